/** A time of the platform with six digits after the point, so that texts compare as times do: it leaves zeros out. */
export function wholeMicros(time: string): string {
  const [whole = "", fraction = ""] = time.replace(/Z$/, "").split(".");
  return `${whole}.${fraction.padEnd(6, "0").slice(0, 6)}Z`;
}

/** The time a microsecond later, as the platform writes times. */
export function justAfter(time: string): string {
  const [whole = "", fraction = "0"] = time.replace(/Z$/, "").split(".");
  const micros = Number(fraction) + 1;
  if (micros < 1_000_000) return `${whole}.${String(micros).padStart(6, "0")}Z`;
  return `${new Date(Date.parse(`${whole}Z`) + 1_000).toISOString().slice(0, 19)}.000000Z`;
}
