import { resolve } from "node:path";
import type { Argument, Verb } from "../command.js";
import { offline } from "../offline.js";

const DIR: Argument = { name: "DIR", doc: "The backup's directory." };

interface Restored {
  readonly from: string;
  readonly madeAt: string;
  readonly before?: string;
  readonly keys?: number;
  readonly users?: number;
  readonly groups?: number;
  readonly signingKeys?: number;
  readonly switches?: number;
  readonly registrationTokens?: number;
  readonly platforms?: number;
  readonly auditRecords?: number;
  readonly revokedKeys?: number;
}

/** Copies the embedded store, and puts a copy in its place; on the machine where the data is. */
export const backup: readonly Verb[] = [
  {
    verb: "create",
    doc: "Copy the embedded store in DATA_DIR; the service may run. Key files in DATA_DIR are not copied.",
    args: [{ ...DIR, doc: "A directory that does not exist yet." }],
    async run(session, { args }) {
      const { backUpStore } = await import("../../../services/shared/store/embedded/backup.js");
      const to = resolve(args.DIR as string);
      const { made_at, version, files } = await backUpStore(session.dataDir, to);
      return { directory: to, made_at, version, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
    },
  },
  {
    verb: "check",
    doc: "Check that a backup is complete.",
    args: [DIR],
    async run(_session, { args }) {
      const { readBackup } = await import("../../../services/shared/store/embedded/backup.js");
      const { made_at, version } = await readBackup(args.DIR as string);
      return { directory: args.DIR, made_at, version, whole: true };
    },
  },
  {
    verb: "restore",
    doc: "Replace the store in DATA_DIR by a backup; stop the service first. Later revocations, deletions, disabled users and switches are kept.",
    args: [DIR],
    flags: {
      "revoke-all-keys": {
        doc: "Revoke every API key. Needed if the previous store is missing, because only it records revocations. The new first keys are in DATA_DIR/bootstrap.json.",
        isSwitch: true,
      },
    },
    async run(session, { args, flags }) {
      const all = flags["revoke-all-keys"] === undefined ? [] : ["--revoke-all-keys"];
      const done = offline(["restore", resolve(args.DIR as string), ...all], session.dataDir) as Restored;
      return {
        restored_from: done.from,
        made_at: done.madeAt,
        before: done.before,
        ended_keys: done.keys,
        changed_users: done.users,
        deleted_groups: done.groups,
        revoked_signing_keys: done.signingKeys,
        switched_off: done.switches,
        taken_back_tokens: done.registrationTokens,
        forgotten_platforms: done.platforms,
        kept_audit_records: done.auditRecords,
        revoked_keys: done.revokedKeys,
      };
    },
  },
];
