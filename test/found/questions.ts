import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What is asked, and the tools that answer it. */
export interface Asked {
  readonly server: string;
  /** A query as a model writes it, or a person's own words. */
  readonly by: "model" | "person";
  readonly query: string;
  readonly tools: readonly string[];
}

/** questions.txt: descriptions may be worded for these. held-out.txt: nobody words a description for these. */
export const SETS = ["questions", "held-out"] as const;

// Written by people who knew the names of the tools, and no description. A line has the
// server and the tools that answer, the query of a model, and the words of a person.

/** Every question of a set: half as a model asks, half as people do. */
export function questionsOf(set: (typeof SETS)[number]): Asked[] {
  const lines = readFileSync(join(import.meta.dirname, `${set}.txt`), "utf8")
    .trim()
    .split("\n");
  return lines.flatMap((line) => {
    const [, server = "", names = "", model = "", person = ""] = /^(\w+) (\S+) \| (.+) \| (.+)$/.exec(line) ?? [];
    const tools = names.split(",");
    return [
      { server, by: "model" as const, query: model, tools },
      { server, by: "person" as const, query: person, tools },
    ];
  });
}
