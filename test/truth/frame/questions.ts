import { writeFileSync } from "node:fs";
import { expect } from "vitest";
import type { Person } from "./product.js";
import { Transcript } from "./transcript.js";

// What people ask, in their words, and what the tools alone lead to: held against
// an answer that is computed from the platform's own data.

/** Something that somebody wants to know. */
export interface Question<Stage> {
  /** In the words of who asks. */
  readonly words: string;
  readonly as: string;
  /** Finds the answer through the tools alone; `dead` notes a call that led nowhere. */
  readonly ask: (job: Transcript, dead: () => void) => Promise<unknown>;
  /** The answer, from the platform's own data as that person sees them. */
  readonly answer: (stage: Stage) => Promise<unknown>;
}

/** How the questions went, a line each. */
export class Figures {
  private readonly lines: string[] = [];

  async prove<Stage>(question: Question<Stage>, stage: Stage, person: Person): Promise<void> {
    const job = new Transcript(question.words, person);
    let dead = 0;
    let isRight = false;
    try {
      const expected = await question.answer(stage);
      const told = await question.ask(job, () => {
        dead++;
      });
      job.write(question.words);
      expect(told).toEqual(expected);
      isRight = true;
    } finally {
      const cells = [question.words, question.as, isRight ? "right" : "**wrong**", job.count, job.bytes, dead];
      this.lines.push(`| ${cells.join(" | ")} |`);
    }
  }

  /** The table in Markdown. */
  get table(): string {
    const head = [
      "| question | asked by | answer | calls | bytes | dead ends |",
      "| --- | --- | --- | --: | --: | --: |",
    ];
    return [...head, ...this.lines, ""].join("\n");
  }

  /** Writes the table to the file that QUESTIONS_TABLE names, where it names one. */
  write(): void {
    if (process.env.QUESTIONS_TABLE) writeFileSync(process.env.QUESTIONS_TABLE, this.table);
  }
}

/** Every row of a list, page by page. */
export async function allOf<Row>(job: Transcript, tool: string, rows: string, args: object): Promise<Row[]> {
  const all: Row[] = [];
  for (let page_token: string | undefined = ""; page_token !== undefined; ) {
    const page: Record<string, unknown> = await job.get(tool, { ...args, page_size: 100, page_token });
    all.push(...((page[rows] ?? []) as Row[]));
    page_token = page.next_page_token as string | undefined;
  }
  return all;
}
