import { bindingProblem, loadPlatform } from "../services/platform-proxy/parts.js";
import { PLATFORM_SERVERS } from "../services/shared/platforms.js";
import { closestName } from "../services/shared/tools/codec/closest-name.js";
import { readImage } from "../services/shared/tools/image.js";
import { readTools, type Tool } from "../services/shared/tools/tools.js";

/** A test file. */
export interface TestFile {
  readonly path: string;
  readonly text: string;
}

/** What a tool lacks, each in a line that says where it belongs, and the tests that call it. */
export interface Lacks {
  readonly lacks: readonly string[];
  readonly calling: readonly string[];
}

/** Looks for what CONTRIBUTING.md asks of a tool: rpc, binding and test. */
export async function lacksOf(name: string, tests: readonly TestFile[]): Promise<Lacks> {
  const tools = readTools(readImage());
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    const meant = closestName(
      name,
      tools.map((one) => one.name),
    );
    const hint = meant === undefined ? "an rpc with (mcp.v1.tool) in proto/ makes one" : `did you mean ${meant}?`;
    return { lacks: [`there is no tool ${name}: ${hint}`], calling: [] };
  }
  const lacks: string[] = [];
  if (tool.listing.description === "") lacks.push(`the rpc of ${name} has no comment: models read it`);
  if (tool.scope === "") lacks.push(`the rpc of ${name} has no (auth.v1.scope)`);
  lacks.push(...(await unboundOf(tool, tools)));
  const calls = new RegExp(`["'\`]${name}["'\`]|\\b${tool.method.localName}\\b`);
  const calling = tests.filter(({ text }) => calls.test(text)).map(({ path }) => path);
  if (calling.length === 0) lacks.push(`no test calls ${name}: test/services/ mirrors where it is answered`);
  return { lacks, calling };
}

async function unboundOf({ server }: Tool, tools: readonly Tool[]): Promise<string[]> {
  const platform = PLATFORM_SERVERS.find((one) => one === server);
  if (platform === undefined) return [];
  const problem = bindingProblem(platform, (await loadPlatform(platform)).bindings, tools);
  return problem === undefined ? [] : [problem];
}
