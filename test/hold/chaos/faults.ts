import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../fuzz/random.js";
import { HTTP_KINDS } from "../http/kinds.js";
import { type Deployment, type Layout, LEASE_MS } from "./deployments.js";
import { type Member, send } from "./members.js";

/** A fault: when it begins, and what it does; it is over when that resolves. */
export interface Fault {
  readonly atMs: number;
  readonly name: string;
  readonly happen: (deployment: Deployment, key: string) => Promise<unknown>;
}

/** Between the beginnings of two faults, at most. */
const APART_MS = 4_000;
/** A calm end, in which everything is to work again. */
const CALM_MS = 5_000;
const MEMBERS: Readonly<Record<Layout, readonly string[]>> = {
  one: ["service"],
  workers: ["service"],
  apart: ["auth", "platforms", "core", "facade-1", "facade-2"],
  mongodb: ["one", "two"],
  doubled: ["auth", "platforms", "core", "facade"].flatMap((name) => [`${name}-1`, `${name}-2`]),
};
const LINKS: Readonly<Record<Layout, readonly string[]>> = {
  one: ["client"],
  workers: ["client"],
  apart: ["auth", "platforms", "core", "client"],
  mongodb: ["database of one", "database of two"],
  doubled: [],
};
const SLOW_READERS = ["a thousand at once, none read", "documents, none read"];

/** The faults of a schedule: the same for the same source of chance. */
export function planFaults(layout: Layout, random: Random, forMs: number): readonly Fault[] {
  const faults: Fault[] = [];
  const last = forMs - CALM_MS;
  for (let at = 1_500 + random.int(1_500); at < last; at += 500 + random.int(APART_MS)) {
    faults.push({ atMs: at, ...one(layout, random, last - at) });
  }
  return faults;
}

function one(layout: Layout, random: Random, leftMs: number): Omit<Fault, "atMs"> {
  const name = random.pick(MEMBERS[layout]);
  // Half of them are longer than the lease.
  const ms = Math.min(leftMs, random.once(2) ? random.int(LEASE_MS) : LEASE_MS + random.int(4 * LEASE_MS));
  const away = random.int(1_500);
  switch (random.int(10)) {
    case 0:
    case 1:
      return { name: `${name} is killed, back after ${away} ms`, happen: (on) => comesBack(on, name, "SIGKILL", away) };
    case 2:
      return { name: `${name} is ended, back after ${away} ms`, happen: (on) => comesBack(on, name, "SIGTERM", away) };
    case 3:
    case 4:
      return { name: `${name} is frozen for ${ms} ms`, happen: (on) => freeze(memberOf(on, name), ms) };
    case 5: {
      const which = random.int(2);
      // One that it started: a façade worker, or whatever reads the answers of others.
      const words = layout === "workers" && random.int(3) > 0 ? "facade/main.js" : "dist/services";
      return random.once(2)
        ? {
            name: `${words} ${which} of ${name} is killed`,
            happen: async (on) => memberOf(on, name).signal("SIGKILL", words, which),
          }
        : {
            name: `${words} ${which} of ${name} is frozen for ${ms} ms`,
            happen: (on) => freeze(memberOf(on, name), ms, words, which),
          };
    }
    case 6:
    case 7: {
      const to = random.pick(LINKS[layout]);
      const resets = random.once(2);
      return {
        name: `the way to ${to} is cut for ${ms} ms${resets ? ", then reset" : ""}`,
        happen: (on) => cut(on, to, ms, resets),
      };
    }
    case 8: {
      const kind = random.pick(SLOW_READERS);
      return { name: `slow readers: ${kind}`, happen: (on, key) => readSlowly(on, kind, key, ms) };
    }
    default:
      return { name: `the disk is full for ${ms} ms`, happen: (on) => fill(on, ms) };
  }
}

function memberOf({ members }: Deployment, name: string): Member {
  const found = members.find((member) => member.name === name);
  if (found === undefined) throw new Error(`no member ${name}`);
  return found;
}

async function comesBack(on: Deployment, name: string, signal: "SIGKILL" | "SIGTERM", away: number): Promise<void> {
  const member = memberOf(on, name);
  // Two faults may have met: who starts it is whoever ended it.
  if (!member.isRunning) return;
  await member.end(signal);
  await sleep(away);
  await member.start();
}

async function freeze(member: Member, ms: number, words?: string, which?: number): Promise<void> {
  const pid = member.signal("SIGSTOP", words, which);
  if (pid === undefined) return;
  await sleep(ms);
  send(pid, "SIGCONT");
}

async function cut({ links }: Deployment, to: string, ms: number, resets: boolean): Promise<void> {
  const link = links.get(to);
  link?.cut();
  await sleep(ms);
  link?.mend(resets);
}

async function readSlowly({ doors }: Deployment, kind: string, key: string, ms: number): Promise<void> {
  const { hostname: host, port } = new URL(doors[0] as string);
  const target = { host, port: Number(port), from: process.platform === "linux" ? "127.0.0.2" : "", key };
  const open = Array.from({ length: 20 }, () => HTTP_KINDS[kind]?.(target));
  await sleep(ms);
  for (const attack of open) attack?.close();
}

async function fill({ disk }: Deployment, ms: number): Promise<void> {
  disk?.fill();
  await sleep(ms);
  disk?.empty();
}
