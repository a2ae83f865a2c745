import { bindingProblem, loadPlatform } from "../services/platform-proxy/parts.js";
import { isPlatformServer } from "../services/shared/platforms.js";
import { rightsOf, wordsOf } from "../services/shared/roles/role.js";
import { closestName } from "../services/shared/tools/codec/closest-name.js";
import { readImage } from "../services/shared/tools/image.js";
import { WHOLE } from "../services/shared/tools/narrowing.js";
import { readTools, type Tool } from "../services/shared/tools/tools.js";
import { isList, QUESTIONS } from "../test/answers/questions.js";

/** A test file. */
export interface TestFile {
  readonly path: string;
  readonly text: string;
}

/** What a tool lacks, each in a line that says where it belongs, and the tests that call it. */
export interface Lacks {
  readonly tool?: Tool;
  readonly lacks: readonly string[];
  readonly calling: readonly string[];
}

/**
 * Looks for what CONTRIBUTING.md asks of a tool: rpc, binding, test, label of its rights, and question of a list.
 *
 * @param asked its name, with its server if several have one of this name: grc/list_incidents.
 * @param sizesPage docs/answer-sizes.md.
 */
export async function lacksOf(asked: string, tests: readonly TestFile[], sizesPage: string): Promise<Lacks> {
  const tools = readTools(readImage());
  const found = tools.filter(({ server, name }) => name === asked || `${server}/${name}` === asked);
  const [tool] = found;
  if (tool === undefined) return { lacks: [absent(asked, tools)], calling: [] };
  if (found.length > 1) return { lacks: [ambiguous(found)], calling: [] };

  const calling = callingOf(tool, tools, tests);
  return {
    tool,
    lacks: [
      ...apiLacks(tool),
      ...(await bindingLacks(tool, tools)),
      ...(calling.length > 0 ? [] : [`no test calls ${tool.name}: add one to ${testPathOf(tool)}`]),
      ...labelLacks(tool),
      ...questionLacks(tool, sizesPage),
    ],
    calling,
  };
}

function absent(asked: string, tools: readonly Tool[]): string {
  const names = tools.map(({ server, name }) => (asked.includes("/") ? `${server}/${name}` : name));
  const meant = closestName(asked, names);
  const hint = meant === undefined ? "an rpc with (mcp.v1.tool) in proto/ makes one" : `did you mean ${meant}?`;
  return `there is no tool ${asked}: ${hint}`;
}

function ambiguous(found: readonly Tool[]): string {
  const commands = found.map(({ server, name }) => `npm run check:tool -- ${server}/${name}`);
  return `${found.map(({ server }) => server).join(" and ")} have a tool of this name: run ${commands.join(" or ")}`;
}

function apiLacks({ name, listing, scope }: Tool): string[] {
  return [
    ...(listing.description === "" ? [`the rpc of ${name} has no comment: models read it`] : []),
    ...(scope === "" ? [`the rpc of ${name} has no (auth.v1.scope)`] : []),
  ];
}

async function bindingLacks({ server }: Tool, tools: readonly Tool[]): Promise<string[]> {
  if (!isPlatformServer(server)) return [];
  const problem = bindingProblem(server, (await loadPlatform(server)).bindings, tools);
  return problem === undefined ? [] : [problem];
}

/** The tests that call a tool; if other servers have one of its name, those in the folder of its server. */
function callingOf({ server, name, method }: Tool, tools: readonly Tool[], tests: readonly TestFile[]): string[] {
  const calls = new RegExp(`["'\`]${name}["'\`]|\\b${method.localName}\\b`);
  const isShared = tools.some((other) => other.name === name && other.server !== server);
  const folder = isPlatformServer(server) ? `/platforms/${server}/` : "/core-objects/";
  return tests
    .filter(({ path, text }) => calls.test(text) && (!isShared || path.includes(folder)))
    .map(({ path }) => path);
}

/** The test file that mirrors where a tool is answered. */
function testPathOf({ server, method }: Tool): string {
  if (!isPlatformServer(server)) return "test/services/";
  const [file = ""] = method.parent.file.name.split("/").slice(-1);
  return `test/services/platform-proxy/platforms/${server}/${file.replaceAll("_", "-")}.test.ts`;
}

function labelLacks(tool: Tool): string[] {
  const { server } = tool;
  if (!isPlatformServer(server)) return [];
  const known = wordsOf(server).rights;
  const unknown = rightsOf(server, [tool], WHOLE).rights.filter(({ id }) => !(id in known));
  return unknown.map(
    ({ id }) =>
      `${id} has no label in services/shared/roles/${server}.ts: add the words that the platform shows for it`,
  );
}

function questionLacks(tool: Tool, sizesPage: string): string[] {
  const { server, name } = tool;
  if (!isList(tool)) return [];
  if (!QUESTIONS.some((one) => one.server === server && one.tool === name))
    return [`${name} returns a list: add { server: "${server}", tool: "${name}" } to test/answers/questions.ts`];
  const hasSize = sizesPage.includes(`| ${server} | \`${name}\` |`);
  return hasSize ? [] : [`docs/answer-sizes.md has no row for ${name}: run npm run docs`];
}
