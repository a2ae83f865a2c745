import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useState } from "react";
import { type Connection, ConnectionKind } from "#api/auth/v1/connection_service_pb";

// A client connects minutes after its configuration was copied, so the wait is kept in the
// tab and outlives a reload. What counts is compared with what the service itself said when
// the wait began: the clock of the browser may differ from that of the service.

/** A wait for the first call of a client. */
export interface Wait {
  /** The server whose configuration was copied; undefined if the person may have copied any. */
  readonly server?: string | undefined;
  /** The key that is in the file; undefined if the person says which the client will use. */
  readonly keyId?: string | undefined;
  /** The key that the person says; undefined for the one that was made last. */
  readonly chosen?: string | undefined;
  /** By the clock of the browser. */
  readonly startedAt: number;
  /** The connections at the beginning, by id; undefined until the service was asked. */
  readonly before?: Readonly<Record<string, Before>> | undefined;
}

interface Before {
  readonly uses: number;
  /** When a client last connected, by the clock of the service; 0 for never. */
  readonly connectedAt: number;
}

/** Who connected, once somebody has. */
export type Found = Connection | undefined;

const KEPT_AS = "first call";

/** The wait of this tab; undefined for none. */
export function useWait(): [Wait | undefined, (wait: Wait | undefined) => void] {
  const [wait, setWait] = useState<Wait | undefined>(() => {
    const kept = sessionStorage.getItem(KEPT_AS);
    return kept === null ? undefined : (JSON.parse(kept) as Wait);
  });
  return [
    wait,
    (next) => {
      if (next === undefined) sessionStorage.removeItem(KEPT_AS);
      else sessionStorage.setItem(KEPT_AS, JSON.stringify(next));
      setWait(next);
    },
  ];
}

/** The connections as they are, for a wait that begins. A key that was just made for it has never been used. */
export function beforeOf(connections: readonly Connection[], keyId: string | undefined): Record<string, Before> {
  const others = connections.filter(({ id }) => id !== keyId);
  return Object.fromEntries(others.map((one) => [one.id, { uses: Number(one.uses), connectedAt: connectedAt(one) }]));
}

/** The keys of a person, the newest first. */
export function keysIn(connections: readonly Connection[]): Connection[] {
  return connections.filter(({ kind }) => kind === ConnectionKind.API_KEY);
}

/** The key that is waited for; undefined if the person has none. */
export function awaited({ keyId, chosen }: Wait, connections: readonly Connection[]): Connection | undefined {
  const keys = keysIn(connections);
  return keys.find(({ id }) => id === (keyId ?? chosen)) ?? (keyId === undefined ? keys[0] : undefined);
}

/**
 * Who connected since the wait began. A key that was never used counts with its first call. One
 * that was used counts when a client connects with it again: the calls of a client that has it
 * already say nothing. A client that signed in counts if its sign-in is a new one.
 */
export function connectedSince(wait: Wait, connections: readonly Connection[]): Found {
  const { before, server } = wait;
  if (before === undefined) return undefined;
  const key = awaited(wait, connections);
  if (key !== undefined && isNews(key, before[key.id])) return key;
  const firstKnown = connections.findIndex(({ id }) => before[id] !== undefined);
  const made = firstKnown === -1 ? connections : connections.slice(0, firstKnown);
  return made.find(
    (one) => one.kind === ConnectionKind.GRANT && one.uses > 0n && (server === undefined || one.server === server),
  );
}

function isNews(key: Connection, before: Before | undefined): boolean {
  if (before === undefined || before.uses === 0) return key.uses > 0n;
  return connectedAt(key) > before.connectedAt;
}

function connectedAt({ clientConnectedAt }: Connection): number {
  return clientConnectedAt === undefined ? 0 : timestampMs(clientConnectedAt);
}
