import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { unpackKeycloak } from "./distribution.js";
import { REALM } from "./realm.js";

/** A Keycloak of this run. */
export interface Keycloak {
  readonly issuer: string;
  /** Calls its administration for the realm. */
  admin<T>(method: string, path: string, body?: object): Promise<T>;
  /** The id of somebody, by the name. */
  userId(username: string): Promise<string>;
  /** The id of a group, by its path. */
  groupId(path: string): Promise<string>;
  stop(): Promise<void>;
}

const START_MS = 400_000;
const ADMIN = { username: "admin", password: "admin-of-this-run" };

/** Starts one with a realm, on a free port of loopback; stopping it removes all that it wrote. */
export async function startKeycloak(realm: object): Promise<Keycloak> {
  const directory = mkdtempSync(join(tmpdir(), "keycloak-"));
  const home = unpackKeycloak(directory);
  mkdirSync(join(home, "data/import"), { recursive: true });
  writeFileSync(join(home, "data/import/realm.json"), JSON.stringify(realm));
  const port = await freePort();
  const child = spawn(
    join(home, "bin/kc.sh"),
    ["start-dev", "--import-realm", "--http-host=127.0.0.1", `--http-port=${port}`],
    {
      // A group of its own: the script starts Java.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username,
        KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
        JAVA_OPTS_APPEND: "-Xmx600m",
      },
    },
  );
  let said = "";
  const hear = (piece: Buffer): void => {
    said = `${said}${piece}`.slice(-8_000);
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  let isOver = false;
  const over = new Promise<void>((done) => {
    child.once("close", () => {
      isOver = true;
      done();
    });
  });
  function end(): void {
    if (!isOver && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
  /** Whoever interrupts the run leaves nothing behind either. */
  const interrupted = (): void => process.exit(130);
  async function stop(): Promise<void> {
    end();
    await over;
    end();
    process.removeListener("exit", end);
    for (const signal of ["SIGINT", "SIGTERM"]) process.removeListener(signal, interrupted);
  }
  process.once("exit", end);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, interrupted);

  const root = `http://127.0.0.1:${port}`;
  const issuer = `${root}/realms/${REALM}`;
  const until = Date.now() + START_MS;
  while (!(await answers(`${issuer}/.well-known/openid-configuration`))) {
    if (isOver || Date.now() > until) {
      await stop();
      throw new Error(`Keycloak did not start: ${said}`);
    }
    await sleep(500);
  }
  return { issuer, stop, ...administrationOf(root) };
}

function administrationOf(root: string): Pick<Keycloak, "admin" | "userId" | "groupId"> {
  async function admin<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await fetch(`${root}/realms/master/protocol/openid-connect/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "password", client_id: "admin-cli", ...ADMIN }),
    });
    const { access_token } = (await answer.json()) as { access_token: string };
    const done = await fetch(`${root}/admin/realms/${REALM}${path}`, {
      method,
      headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await done.text();
    if (!done.ok) throw new Error(`${method} ${path}: ${done.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }
  return {
    admin,
    async userId(username) {
      const [user] = await admin<{ id: string }[]>("GET", `/users?exact=true&username=${username}`);
      if (user === undefined) throw new Error(`nobody is called ${username}`);
      return user.id;
    },
    groupId: async (path) => (await admin<{ id: string }>("GET", `/group-by-path${path}`)).id,
  };
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok === true;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
