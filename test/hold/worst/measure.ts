import { type DescMethod, getOption, type JsonObject } from "@bufbuild/protobuf";
import { scope } from "#proto/auth/v1/access_pb.js";
import { FOREIGN_BOUNDS } from "../../../services/shared/rpc/bounds.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../../services/shared/tools/tools.js";
import { Random } from "../fuzz/random.js";
import { type Case, casesOf } from "./cases.js";
import { type Answer, type Door, Doors, type Enter } from "./doors.js";
import type { ExportDoor } from "./exports.js";
import type { Cost } from "./gauge.js";
import { type Ask, KnownIds } from "./known.js";
import { Subjects } from "./people.js";
import { EXTENTS, plainRequest } from "./plain.js";
import type { Stage } from "./stage.js";
import { stockCore } from "./stock.js";

/** A call that was measured. */
export interface Measured extends Cost {
  /** server/tool, or service/rpc. */
  readonly name: string;
  readonly door: Door | ExportDoor;
  /** "plain" for the plain request, which is what the others are made from. */
  readonly field: string;
  readonly kind: string;
  readonly answer: Answer;
}

/** A fault of ours, which no value may cause. */
export function isFault({ code }: Answer): boolean {
  return ["failed", "internal", "unknown", "-32603"].includes(code);
}

/** Whether a call came past everything that is checked before the work: it was answered, or refused for what is stored. */
export function isWork({ code, said }: Answer): boolean {
  if (code === "isError") return !/^[\w.[\]"-]+: |^unknown argument|^give |^the texts of one request/.test(said);
  return !["invalid_argument", "unsent", "413", "-32600", "-32602", "resource_exhausted"].includes(code);
}

/** What is measured, and how much of it. */
export interface Wanted {
  readonly names: RegExp;
  /** By which ways; each where left out. */
  readonly doors?: ReadonlySet<Door>;
  /** Takes this many cases of each request by chance, and what is named in "name field kind"; all where left out. */
  readonly sample?: { readonly cases: number; readonly seed: number; readonly also?: RegExp };
}

/** What no measurement calls, by name, and why. */
export const NOT_CALLED: Readonly<Record<string, string>> = {
  "auth.v1.ApiKeyService/RevokeApiKey": "it would end the key of the measurement",
  "auth.v1.ApiKeyService/RotateApiKey": "it would end the key of the measurement",
  "auth.v1.UserService/DeleteUser": "it would end the user of the measurement",
  "auth.v1.UserService/UpdateUser": "it would take the rights of the measurement",
  "catalogue.v1.SettingService/UpdateSettings": "it would switch endpoints off",
};

/** The longest time of the serving loop that a call may take, in milliseconds of CPU. */
export const MOST_LOOP_MS = 50;

/**
 * Whether a call took more than `most` milliseconds of the loop; of a call that lasts, more in a second on average.
 * A call that waits for a run is measured together with the run, which costs the same while nobody waits for it.
 */
export function isDear({ loopMs, lastsMs }: Cost, most = MOST_LOOP_MS): boolean {
  return loopMs > most * Math.max(1, lastsMs / 1_000);
}

/** A dear call is repeated: what a neighbour on the machine or the collector of garbage costs is not the call's. */
const ATTEMPTS = 3;

const IMAGE = readImage();
const TOOLS = readTools(IMAGE);

/** Makes every call that is wanted, and says what each cost. */
export async function* measureWorst({ program, gauge }: Stage, wanted: Wanted): AsyncIterable<Measured> {
  const doors = new Doors(program);
  const ask: Ask = async (tool, args) => (await doors.tool(tool)(args)).result;
  const ids = new KnownIds(TOOLS, ask);
  await stockCore(TOOLS, ask, doors);
  for (const tool of inOrder(TOOLS.filter((one) => wanted.names.test(`${one.server}/${one.name}`)))) {
    // What the platforms' tools cost is behind the doors.
    for (const door of tool.server === "core" ? TOOL_DOORS : TOOL_DOORS.slice(0, 1)) {
      if (wanted.doors?.has(door) === false) continue;
      const known = await ids.of(tool);
      const plains = EXTENTS.map((extent) => plainRequest(tool.method.input, known, extent));
      const call = door === "mcp" ? doors.tool(tool) : doors.rpc(door, tool.method);
      yield* all(
        `${tool.server}/${tool.name}`,
        door,
        plains,
        (plain) => casesOf(tool.method.input, known, plain),
        call,
      );
      if (!isDeleting(tool.method)) continue;
      ids.forget();
      if (tool.server === "core") await stockCore(TOOLS, ask, doors);
    }
  }
  const people = new Subjects(doors);
  for (const method of rpcsOfPeople()) {
    const name = `${method.parent.typeName}/${method.name}`;
    if (!wanted.names.test(name) || NOT_CALLED[name] !== undefined) continue;
    for (const door of RPC_DOORS) {
      if (wanted.doors?.has(door) === false) continue;
      const known = await people.of(method);
      const plains = [plainRequest(method.input, known)];
      yield* all(name, door, plains, (plain) => casesOf(method.input, known, plain), doors.rpc(door, method));
    }
  }

  async function* all(
    name: string,
    door: Door,
    plains: readonly JsonObject[],
    casesFrom: (plain: JsonObject) => readonly Case[],
    call: Enter,
  ): AsyncIterable<Measured> {
    // The first that is answered; and what the first call of a tool compiles is not what its values cost.
    let plain: JsonObject = {};
    let first!: Answer;
    let cost!: Cost;
    for (plain of plains) {
      cost = await gauge.costOf(async () => {
        first = await call(plain);
      });
      if (first.code === "ok") break;
    }
    for (let n = 1; n < ATTEMPTS && isDear(cost); n++) cost = await gauge.costOf(() => call(plain));
    yield { name, door, field: "plain", kind: "as it is", answer: first, ...cost };
    for (const { field, kind, make } of chosen(name, casesFrom(plain), wanted)) {
      let answer!: Answer;
      const once = async (): Promise<Cost> => {
        const args = make();
        return gauge.costOf(async () => {
          answer = await call(args);
        });
      };
      cost = await once();
      for (let n = 1; n < ATTEMPTS && isDear(cost); n++) {
        const again = await once();
        if (again.loopMs < cost.loopMs) cost = again;
      }
      yield { name, door, field, kind, answer, ...cost };
    }
  }
}

const TOOL_DOORS: readonly Door[] = ["mcp", "rpc", "grpc", "connect"];
const RPC_DOORS = ["rpc", "grpc", "connect"] as const;

/** What deletes comes last, when nothing more is asked of what it deletes. */
function inOrder(tools: readonly Tool[]): Tool[] {
  return tools.toSorted((a, b) => Number(isDeleting(a.method)) - Number(isDeleting(b.method)));
}

function isDeleting({ name }: DescMethod): boolean {
  return /^(Delete|Merge|Reset)/.test(name);
}

/** The rpcs that are no tools and that people call; ours among themselves take no key of a person. */
function rpcsOfPeople(): DescMethod[] {
  const tools = new Set<DescMethod>(TOOLS.map(({ method }) => method));
  return (
    [...IMAGE]
      .flatMap((desc) => (desc.kind === "service" ? desc.methods : []))
      .filter((method) => !tools.has(method) && method.methodKind === "unary")
      // OpenTelemetry's messages contain themselves: exports.ts has the worst of them.
      .filter(({ input }) => FOREIGN_BOUNDS[input.typeName] === undefined)
      .filter((method) => /^(account|admin|public|[a-z]+:(read|write))$/.test(getOption(method, scope)))
  );
}

function chosen(name: string, cases: readonly Case[], { sample }: Wanted): readonly Case[] {
  if (sample === undefined || cases.length <= sample.cases) return cases;
  const random = new Random(sample.seed);
  const some = new Set(Array.from({ length: sample.cases }, () => random.pick(cases)));
  for (const one of cases) if (sample.also?.test(`${name} ${one.field} ${one.kind}`)) some.add(one);
  return [...some];
}
