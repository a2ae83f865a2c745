import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { type Known, leaksIn } from "../frame/leaks.js";
import { everyPage, type Read, type Reading } from "../frame/pages.js";
import { type Person, type Product, startProduct } from "../frame/product.js";
import { type Recorder, startRecorder } from "../frame/recorder.js";
import { RealPlatform } from "./platform.js";
import { Seen } from "./seen.js";
import { Everything } from "./standing.js";
import { makeWorld, networkOf, PEOPLE, READERS, type World } from "./world.js";

/** Everything that a truth test of cti looks at. */
export interface Stage {
  readonly platform: RealPlatform;
  readonly product: Product;
  readonly world: World;
  readonly everything: Everything;
  /** Keeps what the product asks of the platform, where TRUTH_RECORD names the file to write. */
  readonly recorder: Recorder | undefined;
}

/**
 * Starts the product in front of the real platform and fills it.
 *
 * @param issuer the address of the product that the platform was told to trust.
 */
export async function startStage(at: {
  readonly url: string;
  readonly token: string;
  readonly issuer: string;
}): Promise<Stage> {
  const platform = new RealPlatform(at);
  const world = await makeWorld(platform);
  const { port } = new URL(at.issuer);
  const recorder = process.env.TRUTH_RECORD === undefined ? undefined : await recorderOf(at.url, world);
  const env = {
    CTI_URL: recorder?.url ?? at.url,
    CTI_PUBLIC_URL: at.url,
    PORT: port,
    BASE_URL: at.issuer,
    REGISTRATION_TOKEN: "registration",
  };
  const product = await startProduct("cti", env, Object.fromEntries(PEOPLE.map((name) => [name, world.emails[name]!])));
  const stage = { platform, product, world, everything: new Everything(new Seen(platform, "root")), recorder };
  for (const name of READERS) await untilKnown(stage, name);
  return stage;
}

interface GraphqlBody {
  readonly query?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

function recorderOf(target: string, { emails, ids, run }: World): Promise<Recorder> {
  const names = new Map(Object.entries(emails).map(([name, email]) => [email, name]));
  const keys = new Map(Object.entries(ids).map(([key, id]) => [id, key]));
  return startRecorder({
    target,
    isLeftOut: (path) => path !== "/graphql",
    keyOf: (id) => keys.get(id),
    plain: (text) => text.replaceAll(run, "run").replaceAll(networkOf(run), networkOf("run")),
    personOf({ authorization }) {
      const [, claims = ""] = authorization.split(".");
      if (claims === "") return "anonymous";
      const { email } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { email: string };
      return names.get(email) ?? "another";
    },
    // Of each operation one exchange a set of variables, and one a person that it is refused to.
    kindOf({ as, body, answer }) {
      const { query = "", variables = {} } = body as GraphqlBody;
      const code = (answer as { errors?: { name?: string }[] }).errors?.[0]?.name;
      const given = Object.keys(variables).filter((name) => variables[name] !== null);
      return [/\w+\s+(\w+)/.exec(query)?.[1], given.sort(), code, code && as];
    },
  });
}

/** Ends what was started, and writes what was kept. */
export async function stopStage({ product, platform, recorder }: Stage): Promise<void> {
  await product.stop();
  if (recorder === undefined) return;
  const { about } = await platform.need("root", "{ about { version } }");
  recorder.write(process.env.TRUTH_RECORD!, "OpenCTI", about.version);
  await recorder.stop();
}

/** The platform asks for new keys of its issuer every 30 seconds at most. */
async function untilKnown(stage: Stage, name: string): Promise<void> {
  let said = "";
  for (let i = 0; i < 90; i++) {
    said = (await personOf(stage, name).ask("whoami")).refusal;
    if (said === "") return;
    await sleep(1_000);
  }
  throw new Error(`${name} is not known: ${said}`);
}

/** Somebody at the product. */
export const personOf = ({ product }: Stage, name: string): Person => product.people[name]!;

/** What somebody sees at the platform. */
export const seenBy = ({ platform }: Stage, name: string): Seen => new Seen(platform, name);

/** A text that names nothing that a person may not see now. */
export async function holdsNothingHidden(stage: Stage, person: string, text: string): Promise<void> {
  const ofRun = ({ id, name }: Known): Known => ({ id, name: name?.includes(stage.world.run) ? name : undefined });
  const all = (await stage.everything.known()).map(ofRun);
  // What is named at all is mostly nothing, and then nobody has to be asked what is visible.
  const named = leaksIn(text, all, []);
  if (named.length === 0) return;
  const visible = (await seenBy(stage, person).everything()).map(ofRun);
  expect(leaksIn(text, all, visible)).toEqual([]);
}

/** Reads a list through all its pages, and proves what is true of every list: no row twice, one total, nothing hidden. */
export async function readWhole(stage: Stage, person: string, reading: Reading): Promise<Read> {
  const read = await everyPage(personOf(stage, person), reading);
  expect(read.repeated).toEqual([]);
  expect(new Set(read.totals)).toEqual(new Set([read.rows.length]));
  await holdsNothingHidden(stage, person, read.text);
  return read;
}

/** Proves that a tool refuses in words, and tells nothing hidden in doing so. */
export async function refuses(stage: Stage, person: string, tool: string, args: object, words = /./): Promise<void> {
  const { refusal, text } = await personOf(stage, person).ask(tool, args);
  expect(refusal).toMatch(words);
  expect(refusal).not.toMatch(/internal error|cannot be read|service's log/i);
  const asked = Object.values(args).flat().map(String);
  await holdsNothingHidden(
    stage,
    person,
    asked.reduce((left, one) => left.replaceAll(one, "-"), text),
  );
}
