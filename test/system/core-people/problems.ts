import type { JsonObject } from "@bufbuild/protobuf";
import type { Answered, Ground, Person } from "./ground.js";

/** What is wrong with an answer, whatever was asked. */
export function problemsOf({ marks, ...ground }: Ground, who: Person, args: JsonObject, answered: Answered): string[] {
  const { refusal, result } = answered;
  const problems: string[] = [];
  const hidden = [
    ...[marks.others, ...ground.others.values()],
    ...(who === "owner" ? [] : [marks.kept, ...ground.kept.values()]),
    ...(who === "stranger" ? [marks.shared, ...ground.shared.values()] : []),
  ];
  const text = withoutSent(answered.text, args).toLowerCase();
  for (const one of hidden) if (text.includes(one.toLowerCase())) problems.push(`names ${one}`);
  if (result === undefined && refusal === "") problems.push("has no sentence");
  if (/internal error|\[\{|"code":|undefined|\[object/i.test(withoutSent(refusal, args))) problems.push("is raw");
  if (refusal.length > 2_000) problems.push(`has ${refusal.length} characters`);
  return problems;
}

/** An answer without what its caller sent, which it may repeat. */
export function withoutSent(text: string, args: JsonObject): string {
  const sent = JSON.stringify(args).match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  // A sentence that quotes it is itself quoted in the answer.
  const once = sent.map((quoted) => quoted.slice(1, -1)).filter(({ length }) => length > 3);
  // An id in capitals is answered as it is kept.
  const long = once.flatMap((one) => [one, one.toLowerCase(), JSON.stringify(one).slice(1, -1)]);
  return long.sort((a, b) => b.length - a.length).reduce((rest, one) => rest.replaceAll(one, "…"), text);
}
