// Passwords of twelve characters and more that are on every list of stolen ones,
// and the patterns that the rest of such lists are made of. No file of millions:
// shorter passwords, which most of them are, are refused anyway.

const COMMON: ReadonlySet<string> = new Set(
  `123456789012 1234567890123 12345678901234 123456789abc 1234qwerasdf 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1qaz2wsx3edc
  1qaz2wsx3edc4rfv administrator adminadmin123 admin1234567 administrator1 changeme1234 changemenow1 correcthorsebatterystaple
  default12345 football1234 iloveyou1234 letmein12345 letmeinplease liverpool123 masterpassword michaeljordan
  mypassword123 newpassword1 newpassword123 p@ssw0rd1234 p@ssword1234 pa55w0rd1234 passpasspass password0000 password1234
  password12345 password123456 passwordpassword princess1234 qazwsxedcrfv qazwsxedcrfvtgb qwerty123456 qwerty1234567
  qwertyqwerty qwertyuiop12 qwertyuiop123 qwertyuiop[] qwertyuiopasdf qwertyuiopasdfghjkl sallyport123 sallyport1234
  security1234 sunshine1234 superman1234 test12345678 testtesttest trustno1trustno1 unbelievable welcome12345 welcome123456
  welcomewelcome winter202400 winter202500 summer202400 summer202500 zaq12wsxcde3 zxcvbnm12345 zxcvbnmasdfg`.split(
    /\s+/,
  ),
);
const ROWS = [
  "abcdefghijklmnopqrstuvwxyz",
  "01234567890123456789",
  "qwertyuiopasdfghjklzxcvbnm",
  "qwertzuiopasdfghjklyxcvbnm",
];

/** Whether a password is among the first that anybody would try. @param lower in lower case. */
export function isCommon(lower: string): boolean {
  if (COMMON.has(lower)) return true;
  // A word of few letters over and over, or one row of the keyboard.
  if (/^(.{1,6})\1+$/.test(lower)) return true;
  return ROWS.some((row) => row.includes(lower) || [...row].reverse().join("").includes(lower));
}
