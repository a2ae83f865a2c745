import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { type Known, leaksIn } from "../frame/leaks.js";
import { everyPage, type Read, type Reading } from "../frame/pages.js";
import { type Person, type Product, startProduct } from "../frame/product.js";
import { realPlatform } from "../frame/real.js";
import { type Recorder, startRecorder } from "../frame/recorder.js";
import { RealPlatform } from "./platform.js";
import { Seen, type SeenTenant } from "./seen.js";
import { INSIDE, makeWorld, type World } from "./world.js";

/** Everything that a truth test of grc looks at. */
export interface Stage {
  readonly platform: RealPlatform;
  readonly product: Product;
  readonly world: World;
  /** Keeps what the product asks of the platform, where TRUTH_RECORD names the file to write. */
  readonly recorder: Recorder | undefined;
  /** Every object there was at the beginning. */
  readonly all: Promise<readonly Known[]>;
  /** What each person sees of all there was when it was first asked for. */
  readonly visible: Map<string, Promise<readonly Known[]>>;
}

/** The real platform, by the environment; what is missing is named. */
export const REAL = realPlatform("GRC_REAL_URL", "GRC_REAL_ISSUER", "GRC_REAL_ISSUER_KEY");
const ADMIN = process.env.GRC_REAL_ADMIN ?? "root@local.test";

/** Starts the product in front of the real platform and fills it. */
export async function startStage(given: NonNullable<typeof REAL.settings>): Promise<Stage> {
  const settings = {
    url: given.GRC_REAL_URL,
    issuer: given.GRC_REAL_ISSUER,
    keyFile: given.GRC_REAL_ISSUER_KEY,
    admin: ADMIN,
  };
  const platform = new RealPlatform(settings);
  const world = await makeWorld(platform, settings.admin);
  const recorder = process.env.TRUTH_RECORD === undefined ? undefined : await recorderOf(settings.url, world);
  const env = { GRC_URL: recorder?.url ?? settings.url, GRC_PUBLIC_URL: settings.url };
  const product = await startProduct("grc", env, world.emails);
  // What an administrator of the platform does once: its single sign-on trusts the product.
  await platform.need(settings.admin, "PUT", "/api/settings/sso/", {
    is_enabled: true,
    force_sso: false,
    provider: "openid_connect",
    provider_name: "Product",
    client_id: settings.url,
    secret: "unused",
    server_url: `${product.baseUrl}/xtm`,
    sp_entity_id: "ciso-assistant",
    reject_deprecated_algorithm: false,
  });
  const all = new Seen(platform, settings.admin, world.ids.root!).objects().then((found) => found.map(namedIn(world)));
  const stage: Stage = { platform, product, world, recorder, all, visible: new Map() };
  // What is made later is not looked for: everybody may be shown more than was there now.
  await stage.all;
  // A role that was given acts some seconds later, and then so do the tools that need it.
  for (const name of INSIDE) await untilOffered(stage, name);
  return stage;
}

/** Names that are not of this run, such as those of requirements, stand in many places. */
const namedIn =
  ({ run }: World) =>
  ({ id, name }: Known): Known => ({ id, name: name?.includes(run) === true ? name : undefined });

async function untilOffered(stage: Stage, name: string): Promise<void> {
  for (let i = 0; i < WAIT_S; i++) {
    if ((await seenBy(stage, name).tenants()).length > 0) return;
    await sleep(1_000);
  }
  throw new Error(`${name} sees no tenant: the world is not as it was meant`);
}

const WAIT_S = 60;

function visibleTo(stage: Stage, person: string): Promise<readonly Known[]> {
  const known =
    stage.visible.get(person) ??
    seenBy(stage, person)
      .everything()
      .then((found) => found.map(namedIn(stage.world)));
  stage.visible.set(person, known);
  return known;
}

const SIGN_IN = "/api/_allauth/app/v1/auth/provider/token";

function recorderOf(target: string, { emails, ids, run }: World): Promise<Recorder> {
  const names = new Map(Object.entries(emails).map(([name, email]) => [email, name]));
  const keys = new Map(Object.entries(ids).map(([key, id]) => [id, key]));
  const sessions = new Map<string, string>();
  return startRecorder({
    target,
    isLeftOut: (path) => path === SIGN_IN || path === "/api/iam/logout/",
    keyOf: (id) => keys.get(id),
    plain: (text) => text.replaceAll(run, "run").replace(/\b0\.\d{6,}|\b\d{13}\b/g, "n"),
    personOf({ authorization, body }, answer) {
      const token = /"id_token":"[^."]*\.([^."]*)\./.exec(body)?.[1];
      if (token === undefined) return sessions.get(authorization) ?? "anonymous";
      const { email } = JSON.parse(Buffer.from(token, "base64url").toString()) as { email: string };
      const name = names.get(email) ?? "leaver";
      const session = /"access_token": ?"(\w+)"/.exec(answer)?.[1];
      if (session !== undefined) sessions.set(`Token ${session}`, name);
      return name;
    },
  });
}

/** Ends what was started, and takes away what was made. */
export async function stopStage({ product, world, platform, recorder }: Stage): Promise<void> {
  await product.stop();
  if (recorder !== undefined) {
    const { version } = await platform.need(world.emails.administrator!, "GET", "/api/build/");
    recorder.write(process.env.TRUTH_RECORD!, "CISO Assistant", version);
    await recorder.stop();
  }
  await world.remove();
}

/** Somebody at the product. */
export const personOf = ({ product }: Stage, name: string): Person => product.people[name]!;

/** What somebody sees at the platform. */
export function seenBy({ platform, world }: Stage, name: string): Seen {
  return new Seen(platform, world.emails[name]!, world.ids.root!);
}

/** The tenant that somebody works in here: the first one, or what is seen of it; the manager's own. */
export async function tenantOf(stage: Stage, name: string): Promise<SeenTenant> {
  const { ids } = stage.world;
  const wanted: Readonly<Record<string, string>> = { granted: "shop", respondent: "enclave", manager: "beta" };
  // Who has a role in a domain may see the one above it, too.
  const tenants = await seenBy(stage, name).tenants();
  const tenant = tenants.find(({ folders }) => folders.has(ids[wanted[name] ?? "alpha"]!));
  if (tenant === undefined) throw new Error(`${name} sees no such tenant: the world is not as it was meant`);
  return tenant;
}

/** A text that names nothing that a person may not see. */
export async function holdsNothingHidden(stage: Stage, person: string, text: string): Promise<void> {
  expect(leaksIn(text, await stage.all, await visibleTo(stage, person))).toEqual([]);
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
export async function refuses(
  stage: Stage,
  person: string,
  tool: string,
  args: object,
  words: RegExp = /./,
): Promise<void> {
  const { refusal, text } = await personOf(stage, person).ask(tool, args);
  expect(refusal).toMatch(words);
  expect(refusal).not.toMatch(/internal error|cannot be read|service's log/i);
  // What was asked for may be said back.
  const asked = Object.values(args).flat().map(String);
  await holdsNothingHidden(
    stage,
    person,
    asked.reduce((left, one) => left.replaceAll(one, "-"), text),
  );
}
