import { type ServedTool, serveTool } from "../../facade/catalogue/served-tool.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";
import { type Args, QUESTIONS, type Question } from "./questions.js";
import { BUILT_IN, RECORDED, type Stage } from "./stages.js";

/** What the model gets of a list, in bytes of its text. */
export interface Measured {
  readonly server: string;
  readonly tool: string;
  /** Of each row, in recorded answers of the real platform. */
  readonly recorded: readonly number[];
  /** Of each row of a first page in front of the built-in platform. */
  readonly builtIn: readonly number[];
  /** Of that whole page. */
  readonly page: number;
  /** Every row names its object by an id. */
  readonly ids: boolean;
}

const TOOLS = readTools(readImage());

/** Asks every question of everything that can answer it. */
export async function measure(): Promise<Measured[]> {
  const servers = [...new Set(QUESTIONS.map(({ server }) => server))];
  return (await Promise.all(servers.map(measureServer))).flat();
}

async function measureServer(server: string): Promise<Measured[]> {
  const served = new Map(TOOLS.filter((tool) => tool.server === server).map((tool) => [tool.name, serveTool(tool)]));
  const [builtIn, recorded] = [await BUILT_IN[server]!(), await RECORDED[server]?.()];
  const measured: Measured[] = [];
  for (const question of QUESTIONS.filter((one) => one.server === server)) {
    const tool = served.get(question.tool)!;
    const rows: number[] = [];
    for (const { args, answers } of question.recorded ?? []) {
      recorded!.play!(answers);
      rows.push(...rowsOf(tool, await textOf(recorded!, tool, args)).map(bytesOf));
    }
    const page = await textOf(builtIn, tool, await firstPage(question, builtIn, served));
    const first = rowsOf(tool, page);
    measured.push({
      server,
      tool: question.tool,
      recorded: rows,
      builtIn: first.map(bytesOf),
      page: Buffer.byteLength(page),
      ids: first.every((row) => typeof (row as { id?: unknown }).id === "string"),
    });
  }
  await builtIn.close();
  await recorded?.close();
  return measured;
}

async function firstPage(
  { args, of }: Question,
  stage: Stage,
  served: ReadonlyMap<string, ServedTool>,
): Promise<Args | undefined> {
  if (of === undefined) return args;
  const tool = served.get(of.tool)!;
  const [first, second] = rowsOf(tool, await textOf(stage, tool)) as Record<string, unknown>[];
  const member = of.member ?? "id";
  return {
    ...{ ...args, [of.argument]: first?.[member] },
    ...(of.same !== undefined && { [of.same]: first?.[member] }),
    ...(of.second !== undefined && { [of.second]: second?.[member] }),
  };
}

/** The text that the model gets. */
export async function textOf(stage: Stage, { tool, decode, encode }: ServedTool, args: Args = {}): Promise<string> {
  if (tool.method.methodKind !== "unary") throw new Error(`${tool.name} streams`);
  const answer = await stage.ask(tool.method, decode(args as never)).catch((cause: unknown) => {
    throw new Error(`${tool.name}: ${String(cause)}`, { cause });
  });
  const result = encode(answer);
  const { content } = JSON.parse(`{${result}}`) as { content: [{ text: string }] };
  // Records of core are made while this runs: their times are all written as long as most are.
  return tool.server === "core" ? content[0].text.replace(/(T\d\d:\d\d:\d\d)(?:\.\d+)?Z/g, "$1.000Z") : content[0].text;
}

/** The rows of its lists. */
export function rowsOf({ tool }: ServedTool, text: string): unknown[] {
  const answer = JSON.parse(text) as Record<string, unknown[]>;
  return tool.result.fields.flatMap((field) => (field.fieldKind === "list" ? (answer[field.name] ?? []) : []));
}

/** Of a row, as JSON. */
export const bytesOf = (row: unknown): number => Buffer.byteLength(JSON.stringify(row));

/** The value that so much of the sorted values do not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;
}
