import { writeFileSync } from "node:fs";
import type { Person } from "./product.js";

interface Call {
  readonly tool: string;
  readonly args: object;
  readonly answer: string;
}

/** What somebody did over MCP: every call with its answer, their number and their bytes. */
export class Transcript {
  private readonly calls: Call[] = [];

  constructor(
    readonly title: string,
    private readonly person: Pick<Person, "name" | "ask">,
  ) {}

  /** How often a tool was called. */
  get count(): number {
    return this.calls.length;
  }

  /** The bytes that a model gets: the answers. */
  get bytes(): number {
    return this.calls.reduce((sum, { answer }) => sum + Buffer.byteLength(answer), 0);
  }

  /** Calls a tool; its result. @throws Error with the refusal. */
  async get<T = Record<string, unknown>>(tool: string, args: object = {}): Promise<T> {
    const { result, refusal } = await this.person.ask(tool, args);
    this.calls.push({ tool, args, answer: result === undefined ? refusal : JSON.stringify(result) });
    if (result === undefined) throw new Error(`${tool} as ${this.person.name}: ${refusal}`);
    return result as T;
  }

  /** In Markdown. */
  text(): string {
    const sent = this.calls.reduce((sum, { args }) => sum + Buffer.byteLength(JSON.stringify(args)), 0);
    const parts = this.calls.flatMap(({ tool, args, answer }, at) => [
      `## ${at + 1}. \`${tool}\``,
      "",
      "```json",
      JSON.stringify(args),
      "```",
      "",
      `${Buffer.byteLength(answer)} bytes:`,
      "",
      "```json",
      answer,
      "```",
      "",
    ]);
    const head = `${this.count} calls, ${sent} bytes of arguments, ${this.bytes} bytes of answers.`;
    return [`# ${this.title}`, "", head, "", ...parts].join("\n");
  }

  /** Writes it to the folder that JOB_TRANSCRIPTS names, where it names one. */
  write(name: string): void {
    if (process.env.JOB_TRANSCRIPTS)
      writeFileSync(
        `${process.env.JOB_TRANSCRIPTS}/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.md`,
        this.text(),
      );
  }
}
