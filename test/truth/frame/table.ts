import { writeFileSync } from "node:fs";
import { expect } from "vitest";

/** One tool, and how its answers are proven against the platform asked directly. */
export interface Truth<Stage> {
  readonly tool: string;
  /** What it is proven in, a sentence each, with whom it is asked as. */
  readonly cases: readonly Case<Stage>[];
}

/** One thing that is to be true of a tool. */
export interface Case<Stage> {
  readonly about: string;
  readonly as: readonly string[];
  /** @throws Error where the tool said something else than the platform. */
  readonly prove: (stage: Stage, person: string) => Promise<void>;
}

/** What came out, tool by person: what was wrong, none where all was right. */
export class Verdicts {
  private readonly wrong = new Map<string, Map<string, string[]>>();
  private readonly notes: string[] = [];

  /** Puts a line below the table, such as what was measured. */
  note(line: string): void {
    this.notes.push(`- ${line}`);
  }

  /** Proves one case as one person, and remembers how it went. @throws what the case throws. */
  async prove<Stage>(tool: string, { about, prove }: Case<Stage>, stage: Stage, person: string): Promise<void> {
    const row = this.wrong.get(tool) ?? new Map<string, string[]>();
    this.wrong.set(tool, row);
    const found = row.get(person) ?? [];
    row.set(person, found);
    try {
      await prove(stage, person);
    } catch (error) {
      found.push(`${about}: ${(error as Error).message.split("\n").slice(0, 3).join(" ").slice(0, 200)}`);
      throw error;
    }
  }

  /** The table in Markdown: right, wrong, or a dash where nobody asked. */
  table(people: readonly string[]): string {
    const cell = (found: readonly string[] | undefined) =>
      found === undefined ? "–" : found.length === 0 ? "right" : `**wrong** ${found.length}`;
    const rows = [...this.wrong].map(
      ([tool, row]) => `| \`${tool}\` | ${people.map((person) => cell(row.get(person))).join(" | ")} |`,
    );
    const why = [...this.wrong].flatMap(([tool, row]) =>
      [...row].flatMap(([person, found]) => found.map((one) => `- \`${tool}\`, ${person}: ${one}`)),
    );
    const head = [`| tool | ${people.join(" | ")} |`, `|---|${people.map(() => "---").join("|")}|`];
    return [...head, ...rows, "", ...this.notes, ...why, ""].join("\n");
  }

  /** Writes the table to the file that TRUTH_TABLE names, where it names one. */
  write(people: readonly string[]): void {
    if (process.env.TRUTH_TABLE) writeFileSync(process.env.TRUTH_TABLE, this.table(people));
  }
}

/** Proves that two lists of ids are the same, order included. */
export function sameIds(told: readonly { readonly id: string }[], expected: readonly { readonly id: string }[]): void {
  expect(told.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
}
