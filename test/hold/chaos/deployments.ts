import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missing as noMongo, startMongoJavaServer } from "../../support/mongo-java-server/server.js";
import { type Bootstrap, freePorts, OWN_SERVERS } from "../../support/program.js";
import { Link } from "./link.js";
import { Member } from "./members.js";
import { openSmallDisk, type SmallDisk } from "./small-disk.js";

/** The lease of permissions: freezing and cutting last longer than it. */
export const LEASE_MS = 1_000;

/** A deployment: its processes, and the ways between them. */
export interface Deployment {
  readonly members: readonly Member[];
  /** Ways that can be cut, by what they lead to. */
  readonly links: ReadonlyMap<string, Link>;
  /** Where clients come in. */
  readonly doors: readonly string[];
  /** Its disk, where it is one that can be filled. */
  readonly disk: SmallDisk | undefined;
  readonly bootstrap: Bootstrap;
  /** The file to which the audit is sent. */
  readonly received: string;
  close(): Promise<void>;
}

const SETTINGS = {
  ...OWN_SERVERS,
  LEASE_MS: String(LEASE_MS),
  BAD_TOKENS_PER_MINUTE: "1000000",
  // What is found is found by what clients are told.
  LOG_LEVEL: "warn",
};

/** Why a layout cannot be had on this machine; undefined if it can. */
export const MISSING: Readonly<Partial<Record<Layout, string>>> =
  noMongo === undefined ? {} : { mongodb: `MongoDB's protocol: ${noMongo}`, doubled: `MongoDB's protocol: ${noMongo}` };
export const LAYOUTS = ["one", "workers", "apart", "mongodb"] as const;
/**
 * The ways to run the product: all in one process; with façade workers; in four; two whole services on one MongoDB; and,
 * for restarts one after the other, each service in two processes.
 */
export type Layout = (typeof LAYOUTS)[number] | "doubled";

/** Starts a deployment, until each of its processes is ready. */
export async function deploy(layout: Layout): Promise<Deployment> {
  const root = mkdtempSync(join(tmpdir(), "sallyport-chaos-"));
  const ends: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const made = await BUILD[layout](root, ends);
    for (const member of made.members) ends.push(() => member.end("SIGKILL"));
    for (const link of made.links.values()) ends.push(() => link.close());
    const [first, ...others] = made.members as [Member, ...Member[]];
    await first.start();
    const bootstrap = JSON.parse(readFileSync(join(made.dataDir, "bootstrap.json"), "utf8")) as Bootstrap;
    await Promise.all(others.map((member) => member.start()));
    return { ...made, bootstrap, received: join(root, "audit.jsonl"), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Made = Pick<Deployment, "members" | "links" | "doors" | "disk"> & { readonly dataDir: string };
type Build = (root: string, ends: (() => unknown)[]) => Promise<Made>;

const url = (port: number): string => `http://127.0.0.1:${port}`;
const hostOf = (address: string): string => new URL(address).host;

/** Everything behind one port, in one process or with façade workers. */
const whole =
  (workers: number): Build =>
  async (root, ends) => {
    const [port, grpc] = (await freePorts(2)) as [number, number];
    const client = await Link.open(port);
    const disk = openSmallDisk(join(root, "disk"));
    if (disk !== undefined) ends.push(() => disk.close());
    const dataDir = join(disk?.path ?? root, "data");
    const env = {
      ...SETTINGS,
      ...{ PORT: String(port), GRPC_PORT: String(grpc), DATA_DIR: dataDir, WORKERS: String(workers) },
      ...{ ALLOWED_HOSTS: hostOf(client.url), AUDIT_RECEIVERS: `file://${join(root, "audit.jsonl")}` },
    };
    const member = new Member("service", "services/main.js", [], () => env);
    return { members: [member], links: new Map([["client", client]]), doors: [url(port), client.url], disk, dataDir };
  };

/** Auth; platforms and traces; objects and runs; and two façades, which reach all of them by ways that can be cut. */
const apart: Build = async (root) => {
  const [a, b, c, one, two] = (await freePorts(5)) as [number, number, number, number, number];
  const [auth, platforms, core, client] = await Promise.all([a, b, c, one].map((port) => Link.open(port)));
  const doors = [url(one), url(two), client!.url];
  const addresses = {
    ...{ AUTH_URL: auth!.url, CATALOGUE_URL: platforms!.url, PLATFORM_PROXY_URL: platforms!.url },
    ...{ CORE_OBJECTS_URL: core!.url, TRACES_URL: platforms!.url },
  };
  const dataDir = join(root, "auth");
  const shared = { ...SETTINGS, ...addresses, BASE_URL: url(one), ALLOWED_HOSTS: doors.map(hostOf).join(",") };
  const keyed = { ...shared, SERVICE_KEY_FILE: join(dataDir, "service-key") };
  const service = (name: string, services: string, port: number, env: Record<string, string>): Member =>
    new Member(name, "services/main.js", ["--services", services, "--workers", "0"], () => ({
      ...env,
      ...{
        GRPC_PORT: String(port),
        DATA_DIR: join(root, name),
        AUDIT_RECEIVERS: `file://${join(root, "audit.jsonl")}`,
      },
    }));
  const facade = (name: string, port: number): Member =>
    new Member(name, "facade/main.js", [], () => ({ ...keyed, PORT: String(port) }));
  return {
    members: [
      service("auth", "auth", a, shared),
      service("platforms", "catalogue,platform-proxy,traces", b, keyed),
      service("core", "core-objects", c, keyed),
      facade("facade-1", one),
      facade("facade-2", two),
    ],
    links: new Map([
      ["auth", auth!],
      ["platforms", platforms!],
      ["core", core!],
      ["client", client!],
    ]),
    doors,
    disk: undefined,
    dataDir,
  };
};

/** Two whole services that share a database, each by a way of its own. */
const mongodb: Build = async (root, ends) => {
  const server = await startMongoJavaServer();
  ends.push(() => server.stop());
  const [one, oneGrpc, two, twoGrpc] = (await freePorts(4)) as [number, number, number, number];
  const [first, second] = await Promise.all([0, 1].map(() => Link.open(Number(new URL(server.uri).port))));
  const dataDir = join(root, "one");
  const doors = [url(one), url(two)];
  const member = (name: string, link: Link, [port, grpc]: [number, number], more: Record<string, string>): Member =>
    new Member(name, "services/main.js", [], () => ({
      ...{ ...SETTINGS, BASE_URL: url(one), ALLOWED_HOSTS: doors.map(hostOf).join(",") },
      ...{ MONGODB_URI: `mongodb://${hostOf(link.url)}/chaos?directConnection=true`, DATA_DIR: join(root, name) },
      ...{ PORT: String(port), GRPC_PORT: String(grpc), AUDIT_RECEIVERS: `file://${join(root, "audit.jsonl")}` },
      ...more,
    }));
  const keys = { SERVICE_KEY_FILE: join(dataDir, "service-key"), SECRETS_KEY_FILE: join(dataDir, "secrets-key") };
  const members = [member("one", first!, [one, oneGrpc], {}), member("two", second!, [two, twoGrpc], keys)];
  const links = new Map([
    ["database of one", first!],
    ["database of two", second!],
  ]);
  return { members, links, doors, disk: undefined, dataDir };
};

/** Two processes of each service, on one MongoDB, and two façades that know both of each. */
const doubled: Build = async (root, ends) => {
  const server = await startMongoJavaServer();
  ends.push(() => server.stop());
  const ports = await freePorts(8);
  const both = (at: number): [number, number] => ports.slice(at, at + 2) as [number, number];
  const [auth, platforms, core, facades] = [both(0), both(2), both(4), both(6)];
  const doors = facades.map(url);
  const urls = (at: readonly number[]): string => at.map(url).join(",");
  const dataDir = join(root, "auth-1");
  const shared = {
    ...{ ...SETTINGS, BASE_URL: url(facades[0]), ALLOWED_HOSTS: doors.map(hostOf).join(",") },
    ...{ AUTH_URL: urls(auth), CATALOGUE_URL: urls(platforms), PLATFORM_PROXY_URL: urls(platforms) },
    ...{ CORE_OBJECTS_URL: urls(core), TRACES_URL: urls(platforms) },
  };
  const keyed = { ...shared, SERVICE_KEY_FILE: join(dataDir, "service-key") };
  const service = (name: string, services: string, port: number): Member =>
    new Member(name, "services/main.js", ["--services", services, "--workers", "0"], () => ({
      ...(name === "auth-1" ? shared : { ...keyed, SECRETS_KEY_FILE: join(dataDir, "secrets-key") }),
      ...{ MONGODB_URI: server.uri, DATA_DIR: join(root, name), GRPC_PORT: String(port) },
      AUDIT_RECEIVERS: `file://${join(root, "audit.jsonl")}`,
    }));
  const pair = (name: string, services: string, [one, two]: [number, number]): Member[] => [
    service(`${name}-1`, services, one),
    service(`${name}-2`, services, two),
  ];
  const members = [
    ...pair("auth", "auth", auth),
    ...pair("platforms", "catalogue,platform-proxy,traces", platforms),
    ...pair("core", "core-objects", core),
    ...facades.map(
      (port, n) => new Member(`facade-${n + 1}`, "facade/main.js", [], () => ({ ...keyed, PORT: String(port) })),
    ),
  ];
  return { members, links: new Map(), doors, disk: undefined, dataDir };
};

const BUILD: Readonly<Record<Layout, Build>> = { one: whole(1), workers: whole(2), apart, mongodb, doubled };
