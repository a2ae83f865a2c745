import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { NOUNS } from "../clients/cli/nouns.js";
import { healthRoutes } from "../facade/http/routes/health.js";
import { options } from "../services/launcher/config.js";
import { envOf, readConfig } from "../services/shared/process/config.js";
import { sectionsOf, withSettings } from "./hold/administrator/page.js";

// What docs/operations/ names of the program is true: settings, ports, paths, versions of Node.

const ROOT = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const file = (name: string): string => read(`docs/operations/${name}`);

/** The settings of the program by their variables, with the files of its secrets. */
const SETTINGS = new Set(
  Object.entries(options).flatMap(([name, option]) =>
    "secret" in option && option.secret ? [envOf(name), `${envOf(name)}_FILE`] : [envOf(name)],
  ),
);
/** Variables of others. */
const OTHERS = ["NODE_ENV", "NODE_EXTRA_CA_CERTS", "SALLYPORT_HOST"];

const unknownIn = (names: readonly string[]): string[] =>
  names.filter((name) => !SETTINGS.has(name) && !OTHERS.includes(name));

const EXAMPLE = file("sallyport.env");
const CONTAINERFILE = file("Containerfile");
const UNIT = file("sallyport.service");

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly env_file?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly stop_grace_period?: string;
}
const COMPOSE = parse(file("compose.yaml")) as { services: Readonly<Record<"sallyport" | "caddy", Service>> };
const { sallyport, caddy } = COMPOSE.services;

/** The variables of a Containerfile. */
const ENV = Object.fromEntries(
  [...(/^ENV (.*)$/m.exec(CONTAINERFILE)?.[1] ?? "").matchAll(/(\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]),
);

test("every setting that the files name exists", () => {
  const commented = [...EXAMPLE.matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name = ""]) => name);
  expect(commented.length).toBeGreaterThan(15);
  expect(unknownIn(commented)).toEqual([]);
  expect(unknownIn([...Object.keys(ENV), ...Object.keys(sallyport.environment)])).toEqual([]);
  const ofUnit = [...UNIT.matchAll(/^Environment=(.*)$/gm)].flatMap(
    ([, said = ""]) => said.match(/[A-Z_]+(?==)/g) ?? [],
  );
  expect(ofUnit).toContain("NODE_ENV");
  expect(unknownIn(ofUnit)).toEqual([]);
  expect(unknownIn(["METRICS_PORTS"])).toEqual(["METRICS_PORTS"]);
});

test("the program reads the example, with what is off in it too", () => {
  const lines = EXAMPLE.split("\n").filter((line) => /^(?:# )?[A-Z_]+=/.test(line));
  const given = (kept: readonly string[]): Record<string, string> =>
    Object.fromEntries(kept.map((line) => line.replace(/^# /, "").split(/=(.*)/).slice(0, 2) as [string, string]));
  expect(readConfig(options, [], given(lines.filter((line) => !line.startsWith("#"))))).toMatchObject({
    sandbox: false,
    metricsPort: 9464,
    trustedProxies: 1,
    dataDir: "/var/lib/sallyport",
  });
  // Files of secrets are not here.
  const all = readConfig(options, [], given(lines.filter((line) => !/_FILE=/.test(line))));
  expect(all.auditReceivers?.[0]?.protocol).toBe("tls:");
  expect(all.ctiUrl).toBe("http://opencti.internal:8080");
});

test("the paths that the files start are those of the build, and run on a Node that package.json takes", () => {
  const started = [...`${CONTAINERFILE}\n${UNIT}`.matchAll(/dist\/([\w/]+)\.js/g)].map(([, path]) => `${path}.ts`);
  expect(started.length).toBeGreaterThanOrEqual(2);
  expect(started.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  const { engines, scripts } = JSON.parse(read("package.json")) as {
    engines: { node: string };
    scripts: Record<string, string>;
  };
  const majors = [...CONTAINERFILE.matchAll(/^FROM docker\.io\/library\/node:(\d+)-/gm)].map(([, major]) =>
    Number(major),
  );
  expect(majors).toHaveLength(2);
  expect(new Set(majors).size).toBe(1);
  const least = Number(/>=(\d+)$/.exec(engines.node)?.[1]);
  expect(majors[0]).toBeGreaterThanOrEqual(least);
  const run = [...`${CONTAINERFILE}\n${read("docs/install.md")}`.matchAll(/npm run -s ([\w:]+)/g)].map(
    ([, name]) => name,
  );
  expect(run.filter((name) => scripts[name as string] === undefined)).toEqual([]);
});

test("a call that the unit does not list is refused: it does not end the process, and V8's memory keys are listed", () => {
  expect(UNIT).toMatch(/^SystemCallFilter=@system-service @pkey$/m);
  expect(UNIT).toMatch(/^SystemCallErrorNumber=EPERM$/m);
});

test("the administration client takes the settings and the program from where the unit has them", () => {
  const client = file("sallyport");
  const [settings = "", folder = "", user = ""] = ["EnvironmentFile", "WorkingDirectory", "User"].map(
    (name) => new RegExp(`^${name}=(.*)$`, "m").exec(UNIT)?.[1],
  );
  expect(client).toContain(`--env-file=${settings} ${folder}/dist/clients/cli/main.js "$@"`);
  expect(client).toContain(`runuser -u ${user} --`);
  expect(existsSync(join(ROOT, "clients/cli/main.ts"))).toBe(true);
});

test("what the page for installing has its reader set, write and run is there", async () => {
  const sections = sectionsOf("install.md");
  const steps = sections.flatMap((section) => section.steps);
  const set = steps.flatMap((step) => (step.kind === "set" ? step.lines : []));
  expect(set.length).toBeGreaterThanOrEqual(5);
  expect(unknownIn(set.map((line) => line.split("=", 1)[0] as string))).toEqual([]);
  const commands = steps.map((step) => (step.kind === "run" ? step.commands : "")).join("\n");
  const missing = [...commands.matchAll(/\bdocs\/operations\/[\w.]+/g)].filter(
    ([path]) => path !== "docs/operations/my.env" && !existsSync(join(ROOT, path)),
  );
  expect(missing).toEqual([]);
  const loaded = await Promise.all(
    NOUNS.map(async ({ noun, load }) => (await load()).map(({ verb }) => `${noun} ${verb}`)),
  );
  const verbs = new Set(["doctor", ...loaded.flat()]);
  const run = [...commands.matchAll(/^sallyport (doctor|[a-z-]+ [a-z-]+)/gm)].map(([, verb = ""]) => verb);
  expect(run.length).toBeGreaterThan(10);
  expect(run.filter((verb) => !verbs.has(verb))).toEqual([]);
});

test("a setting of the page takes the place of the one in the example, or comes after it", () => {
  expect(withSettings("A=1\n# B=2\n", ["A=x=y", "B=3&$1"])).toBe("A=x=y\n# B=2\nB=3&$1\n");
});

test("the container has no more rights than it needs, and says whether it serves", () => {
  expect(CONTAINERFILE).toMatch(/^USER 1000:1000$/m);
  expect(sallyport).toMatchObject({ user: "1000:1000", read_only: true, cap_drop: ["ALL"] });
  expect(sallyport.ports).toBeUndefined();
  expect(sallyport.volumes).toEqual([`data:${ENV.DATA_DIR}`]);
  const probe = /http:\/\/127\.0\.0\.1:(\d+)(\/\w+)/.exec(CONTAINERFILE);
  expect(probe?.[1]).toBe(ENV.PORT);
  expect(healthRoutes(async () => []).map(({ path }) => path)).toContain(probe?.[2]);
  const exposed = /^EXPOSE (.*)$/m.exec(CONTAINERFILE)?.[1]?.split(" ");
  expect(exposed).toEqual([ENV.PORT, ENV.GRPC_PORT, ENV.METRICS_PORT]);
});

test("the proxy calls the port that the container has, and is counted", () => {
  expect(file("Caddyfile")).toContain(`reverse_proxy sallyport:${sallyport.environment.PORT} {`);
  expect(caddy.volumes).toContain("./Caddyfile:/etc/caddy/Caddyfile:ro");
  expect(sallyport.environment).toMatchObject({ HOST: "0.0.0.0", TRUSTED_PROXIES: "1", PORT: ENV.PORT });
  expect(existsSync(join(ROOT, "docs/operations", sallyport.env_file ?? "-"))).toBe(true);
  const { context, dockerfile } = sallyport.build ?? { context: "", dockerfile: "-" };
  expect(existsSync(join(ROOT, "docs/operations", context, dockerfile))).toBe(true);
});

test("an end waits longer than requests have to finish", () => {
  const seconds = [/^TimeoutStopSec=(\d+)$/m.exec(UNIT)?.[1], /^(\d+)s$/.exec(sallyport.stop_grace_period ?? "")?.[1]];
  for (const one of seconds) expect(Number(one)).toBeGreaterThan(10);
});

test("Prometheus reads the port of the example, and the rules that are there", () => {
  const { scrape_configs: jobs, rule_files: rules } = parse(file("prometheus.yaml")) as {
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
    rule_files: string[];
  };
  const port = /^METRICS_PORT=(\d+)$/m.exec(EXAMPLE)?.[1];
  expect(jobs[0]).toMatchObject({ job_name: "sallyport", static_configs: [{ targets: [`127.0.0.1:${port}`] }] });
  expect(rules.filter((name) => !existsSync(join(ROOT, "docs/operations", name)))).toEqual([]);
});
