/** JSON that two parsers can read differently, or that reaches an object's prototype. */
export const AMBIGUOUS: readonly string[] = [
  '{"a":1,"a":2}',
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '{"b":{"a":1,"a":2}}',
  '[{"x":[{"a":1 , "a" : 2}]}]',
  '{"a":"x:y","a":"z"}',
  '{"a":":b","a":1}',
  '{"a\\\\":1,"a\\\\":2}',
  '{"":1,"":2}',
  '{"__proto__":{}}',
  '{"a":{"__proto__":null}}',
  '{"\\u005f_proto__":1}',
];

/** JSON that looks like that and is not. */
export const PLAIN: readonly string[] = [
  "{}",
  "[]",
  "1",
  '"a:b"',
  '{"a":1,"b":{"a":1}}',
  '[{"a":1},{"a":2}]',
  '{"a":"{\\"a\\":1,\\"a\\":2}"}',
  '{"a":"\\"a\\":1"}',
  '{"a":":","b":"\\":"}',
  '{"a":1,"A":2,"a ":3}',
  '{"a":"http://x:1/","b":"2026-07-28T09:30:00Z"}',
  '{"a" \n:\t1}',
  '{"constructor":1,"prototype":{}}',
];
