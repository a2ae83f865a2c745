import { expect } from "vitest";
import { freePorts } from "../../support/program.js";
import { type Known, leaksIn } from "../frame/leaks.js";
import { everyPage, type Read, type Reading } from "../frame/pages.js";
import { type Person, type Product, startProduct } from "../frame/product.js";
import { type Recorder, startRecorder } from "../frame/recorder.js";
import { type Issuer, startIssuer } from "./issuer.js";
import { type Json, RealPlatform } from "./platform.js";
import { named, Seen } from "./seen.js";
import { FIRST, makeWorld, type World } from "./world.js";

/** Everything that a truth test of aev looks at. */
export interface Stage {
  readonly platform: RealPlatform;
  readonly product: Product;
  readonly world: World;
  readonly issuer: Issuer;
  /** Keeps what the product asks of the platform, where TRUTH_RECORD names the file to write. */
  readonly recorder: Recorder | undefined;
  /** Every object there was at the beginning, in both tenants. */
  readonly all: readonly Known[];
  /** What each person sees of it. */
  readonly visible: Map<string, Promise<readonly Known[]>>;
  /** How each list was read first, and as whom. */
  readonly firsts: Map<string, { readonly person: string; readonly reading: Reading }>;
}

/** Starts the product in front of the real platform and fills it. */
export async function startStage(settings: {
  readonly url: string;
  /** The address that the platform trusts: openaev.xtm.one.url. */
  readonly issuer: string;
  readonly admin: string;
}): Promise<Stage> {
  const [port = 0] = await freePorts(1);
  const issuer = await startIssuer(settings.issuer, port);
  const platform = new RealPlatform(settings.url, issuer);
  const world = await makeWorld(platform, settings.admin);
  const recorder = process.env.TRUTH_RECORD === undefined ? undefined : await recorderOf(settings.url, world);
  const env = {
    PORT: String(port),
    BASE_URL: settings.issuer,
    AEV_URL: recorder?.url ?? settings.url,
    AEV_PUBLIC_URL: settings.url,
  };
  const product = await startProduct("aev", env, world.emails);
  const seen = [FIRST, world.ids.second!].map((tenant) => new Seen(platform, settings.admin, tenant).everything());
  const all = (await Promise.all(seen)).flat().map(namedIn(world));
  return { platform, product, world, issuer, recorder, all, visible: new Map(), firsts: new Map() };
}

/** Names that are not of this run stand in many places. */
const namedIn =
  ({ run }: World) =>
  ({ id, name }: Known): Known => ({ id, name: name?.includes(run) === true ? name : undefined });

function recorderOf(target: string, { emails, ids, run }: World): Promise<Recorder> {
  const names = new Map(Object.entries(emails).map(([name, email]) => [email, name]));
  const keys = new Map(Object.entries(ids).map(([key, id]) => [id, key]));
  return startRecorder({
    target,
    isLeftOut: (path) => path === "/api/settings/public",
    keyOf: (id) => keys.get(id),
    plain: (text) => text.replaceAll(run, "run"),
    personOf({ authorization }) {
      const claims = Buffer.from(authorization.split(".")[1] ?? "", "base64url").toString();
      return claims === "" ? "anonymous" : (names.get((JSON.parse(claims) as { email: string }).email) ?? "somebody");
    },
  });
}

/** Ends what was started, and takes away what was made. */
export async function stopStage({ product, world, platform, recorder, issuer }: Stage): Promise<void> {
  await product.stop();
  if (recorder !== undefined) {
    const settings = await platform.need(world.emails.administrator!, "GET", "/api/settings");
    recorder.write(process.env.TRUTH_RECORD!, "OpenAEV", settings.platform_version);
    await recorder.stop();
  }
  await world.remove();
  await issuer.stop();
}

/** Somebody at the product. */
export const personOf = ({ product }: Stage, name: string): Person => product.people[name]!;

/** What somebody sees at the platform, in the tenant where that person works. */
export function seenBy({ platform, world }: Stage, name: string, tenant = world.tenantOf(name)): Seen {
  return new Seen(platform, world.emails[name]!, tenant);
}

/** The argument that names the tenant, for who is a member of several. */
export const inTenant = (stage: Stage, name: string): { readonly tenant_id?: string } =>
  name === "administrator" || name === "both" ? { tenant_id: stage.world.tenantOf(name) } : {};

/**
 * A text that names nothing that a person may not see.
 *
 * @param shown what the platform showed that person besides.
 */
export async function holdsNothingHidden(stage: Stage, person: string, text: string, shown?: Json): Promise<void> {
  const seen =
    stage.visible.get(person) ??
    Promise.all([FIRST, stage.world.ids.second!].map((tenant) => seenBy(stage, person, tenant).everything())).then(
      (found) => found.flat().map(namedIn(stage.world)),
    );
  stage.visible.set(person, seen);
  const { all } = stage;
  expect(leaksIn(text, all, [...(await seen), ...named(shown)])).toEqual([]);
}

/** Reads a list through all its pages, and proves what is true of every list: no row twice, one total, nothing hidden. */
export async function readWhole(stage: Stage, person: string, reading: Reading): Promise<Read> {
  if (!stage.firsts.has(reading.tool)) stage.firsts.set(reading.tool, { person, reading });
  const read = await everyPage(personOf(stage, person), reading);
  expect(read.repeated).toEqual([]);
  if (reading.between === undefined) expect(new Set(read.totals)).toEqual(new Set([read.rows.length]));
  await holdsNothingHidden(stage, person, read.text);
  return read;
}

/** Proves that a tool refuses in words, and tells nothing hidden in doing so. */
export async function refuses(stage: Stage, person: string, tool: string, args: object, words: RegExp): Promise<void> {
  const { refusal, text } = await personOf(stage, person).ask(tool, args);
  expect(refusal).toMatch(words);
  expect(refusal).not.toMatch(/internal error|cannot be read|service's log|did not say which/i);
  // What was asked for may be said back.
  const asked = Object.values(args).flat().map(String);
  await holdsNothingHidden(
    stage,
    person,
    asked.reduce((left, one) => left.replaceAll(one, "-"), text),
  );
}
