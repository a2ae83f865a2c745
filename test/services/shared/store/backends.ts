import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbeddedStore } from "../../../../services/shared/store/embedded/embedded.js";
import { openMongoStore } from "../../../../services/shared/store/mongo.js";
import type { Store } from "../../../../services/shared/store/store.js";
import { missing, startMongoJavaServer } from "../../../support/mongo-java-server/server.js";

/** An implementation of the store that the contract is held against. */
export interface Backend {
  readonly title: string;
  /** Why its tests cannot run here. */
  readonly missing: string | undefined;
  /** Whether expired documents are deleted within seconds. */
  readonly sweeps: boolean;
  /** Queries that it answers otherwise than MongoDB documents, and how. */
  readonly departures: Readonly<Record<string, string>>;
  open(): Promise<{ store: Store; close(): Promise<void> }>;
}

export const backends: readonly Backend[] = [
  {
    title: "embedded",
    missing: undefined,
    sweeps: true,
    departures: {},
    async open() {
      const dir = await mkdtemp(join(tmpdir(), "store-"));
      const store = await openEmbeddedStore(dir, { sweepEveryMs: 50 });
      return {
        store,
        async close() {
          await store.close();
          await rm(dir, { recursive: true });
        },
      };
    },
  },
  {
    title: "driver on mongo-java-server",
    missing,
    sweeps: false,
    departures: {
      "a range with bounds that two elements meet": "it wants one element to meet both",
      "null among several": "it looks in a sparse index, which lacks what is missing",
    },
    async open() {
      const server = await startMongoJavaServer();
      const store = await openMongoStore(server.uri, { database: "contract" });
      return {
        store,
        async close() {
          await store.close();
          server.stop();
        },
      };
    },
  },
  {
    title: "driver on MONGODB_URI",
    missing: process.env.MONGODB_URI ? undefined : "MONGODB_URI is not set",
    sweeps: false,
    departures: {},
    async open() {
      const store = await openMongoStore(process.env.MONGODB_URI as string, { database: `contract-${process.pid}` });
      return { store, close: () => store.close() };
    },
  },
];
