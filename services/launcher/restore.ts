import { cpSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AuditKind, AuditRecordSchema } from "#proto/auth/v1/audit_service_pb.js";
import { openAuditTrail } from "../auth/audit-trail.js";
import { checkSealedKeys } from "../auth/key-ring-record.js";
import { type RenewedKeys, renewKeys } from "../auth/renew-keys.js";
import { replayAuth, type Withdrawn } from "../auth/replay.js";
import { type AuthStore, openAuthStore } from "../auth/store.js";
import { replayCatalogue, type SwitchedOff } from "../catalogue/replay.js";
import { openCatalogueStore } from "../catalogue/store.js";
import { createKeyFormat } from "../shared/credentials/format.js";
import { silentLog } from "../shared/process/log.js";
import { createSeal, parseSealKeys } from "../shared/secrets/seal.js";
import { ENVIRONMENTS, readBackup } from "../shared/store/embedded/backup.js";
import { openEmbeddedStore } from "../shared/store/embedded/embedded.js";
import { journalsIn } from "../shared/store/embedded/journal-files.js";
import { toDisk } from "../shared/store/embedded/to-disk.js";
import type { Store } from "../shared/store/store.js";
import type { Settings } from "./config.js";
import { prepareDataDir, RESTORING } from "./data-dir.js";
import { readBootstrap } from "./first-start.js";
import { narrowToOwner, writePrivate } from "./private-files.js";

/** What a restore did. */
export interface Restored extends Partial<Withdrawn>, Partial<SwitchedOff> {
  readonly from: string;
  /** What was acknowledged before is there. */
  readonly madeAt: string;
  /** Where the store that was replaced is kept; undefined where there was none. */
  readonly before: string | undefined;
  /** Of --revoke-all-keys. */
  readonly revokedKeys?: number;
}

type Needed = Pick<Settings, "dataDir" | "mongodbUri" | "keyPrefix" | "secretsKey" | "auditDays" | "auditRecords">;

/**
 * Puts a backup in the place of the embedded store of a service that is stopped.
 * What the store that it replaces knows to be taken away is taken away again;
 * where that store is not there, or not whole, all keys have to be revoked.
 *
 * The store is made ready beside, then it takes the place by one rename a file.
 * A restore that was broken off stops the start, and is done again.
 *
 * @throws Error in one line.
 */
export async function restore(settings: Needed, from: string, revokesAll: boolean): Promise<Restored> {
  const { dataDir, mongodbUri } = settings;
  if (mongodbUri !== undefined) throw new Error("MONGODB_URI is set: restore records in MongoDB with MongoDB's tools");
  const manifest = await readBackup(from);
  prepareDataDir(dataDir, { isRestore: true });
  const staged = join(dataDir, RESTORING);
  const old = await openOld(dataDir, revokesAll);
  let begun = false;
  try {
    rmSync(staged, { recursive: true, force: true });
    mkdirSync(staged, { mode: 0o700 });
    for (const { name } of manifest.files) cpSync(join(from, name), join(staged, name));
    const ready = await prepare(settings, staged, old, { from, revokesAll });
    begun = true;
    const before = old && keepBefore(dataDir, manifest.made_at);
    for (const name of ENVIRONMENTS.toReversed()) takePlace(dataDir, staged, name);
    if (ready.renewed !== undefined) writeKeys(dataDir, ready.renewed);
    rmSync(staged, { recursive: true });
    narrowToOwner(dataDir, silentLog);
    const { withdrawn, renewed } = ready;
    return {
      from,
      madeAt: manifest.made_at,
      before,
      ...withdrawn,
      ...(renewed && { revokedKeys: renewed.revoked }),
    };
  } finally {
    // What was refused has changed nothing; what was begun is to be ended.
    if (!begun) rmSync(staged, { recursive: true, force: true });
    await old?.close();
  }
}

/** The store that is replaced: it is held until the end, so that no service starts meanwhile. */
async function openOld(dataDir: string, revokesAll: boolean): Promise<Store | undefined> {
  const path = join(dataDir, "main", "data.mdb");
  const say = "add --revoke-all-keys; without it, keys that were revoked after the backup would work again";
  if (!existsSync(path)) {
    if (!revokesAll) throw new Error(`${dataDir} has no store that lists the revoked keys: ${say}`);
    return undefined;
  }
  try {
    return await openEmbeddedStore(dataDir);
  } catch (error) {
    if (!/is damaged/.test((error as Error).message)) throw error;
    if (!revokesAll) throw new Error(`the store in ${dataDir} is damaged, so its revoked keys are not known: ${say}`);
    return undefined;
  }
}

interface Ready {
  readonly withdrawn: (Withdrawn & SwitchedOff) | undefined;
  readonly renewed: RenewedKeys | undefined;
}

async function prepare(
  settings: Needed,
  staged: string,
  old: Store | undefined,
  { from, revokesAll }: { readonly from: string; readonly revokesAll: boolean },
): Promise<Ready> {
  const store = await openEmbeddedStore(staged);
  try {
    const auth = await openAuthStore(store);
    await checkSeal(auth, settings);
    const withdrawn = old && {
      ...(await replayAuth(await openAuthStore(old), auth)),
      ...(await replayCatalogue(await openCatalogueStore(old), await openCatalogueStore(store))),
    };
    const people = readBootstrap(settings.dataDir);
    const emails = people === undefined ? [] : [people.admin.email, people.analyst.email];
    const renewed = revokesAll ? await renewKeys(auth, createKeyFormat(settings.keyPrefix), emails) : undefined;
    const trail = openAuditTrail(auth, { days: settings.auditDays, records: settings.auditRecords });
    await trail.append([
      create(AuditRecordSchema, {
        kind: AuditKind.ADMINISTRATION,
        byAdministrator: true,
        userId: `local:${userInfo().username}`,
        action: "restore",
        target: from.slice(-254),
        arguments: revokesAll ? ["revoke_all_keys=true"] : [],
        outcome: "ok",
        count: 1,
      }),
    ]);
    await trail.close();
    return { withdrawn, renewed };
  } finally {
    await store.close();
  }
}

/** What seals is never in a backup, and without it the service could not start. @throws Error in one line. */
async function checkSeal(auth: AuthStore, { secretsKey, dataDir }: Needed): Promise<void> {
  const path = join(dataDir, "secrets-key");
  const keys = secretsKey ?? (existsSync(path) ? parseSealKeys(readFileSync(path, "utf8")) : undefined);
  await checkSealedKeys(auth, () => {
    if (keys !== undefined) return createSeal(keys);
    throw new Error(`${path} is missing; it decrypts the secrets in the backup: copy it there, or set SECRETS_KEY`);
  });
}

/** Links, so that there is no moment without a store. */
function keepBefore(dataDir: string, madeAt: string): string {
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, "-");
  const before = join(dataDir, `before-restore-${stamp}`);
  for (const name of ENVIRONMENTS) {
    const file = join(dataDir, name, "data.mdb");
    if (!existsSync(file)) continue;
    mkdirSync(join(before, name), { recursive: true, mode: 0o700 });
    linkSync(file, join(before, name, "data.mdb"));
  }
  writePrivate(join(before, "replaced-by"), `the backup of ${madeAt}\n`);
  return before;
}

function takePlace(dataDir: string, staged: string, name: string): void {
  const [next, place] = [join(staged, name, "data.mdb"), join(dataDir, name)];
  if (!existsSync(next)) return;
  mkdirSync(place, { recursive: true, mode: 0o700 });
  toDisk(next);
  // Those of the store that is replaced; what the backup's had is in its environment by now.
  for (const journal of journalsIn(place)) rmSync(join(place, journal));
  renameSync(next, join(place, "data.mdb"));
  // Whoever reads is counted there; nobody does.
  rmSync(join(place, "lock.mdb"), { force: true });
  toDisk(place);
}

function writeKeys(dataDir: string, { people, serviceKey }: RenewedKeys): void {
  writePrivate(join(dataDir, "service-key"), `${serviceKey}\n`);
  const file = readBootstrap(dataDir);
  const [first] = people;
  const renewed = (account: { email: string; password: string; api_key: string } | undefined) => {
    const email = account !== undefined && people.has(account.email) ? account.email : undefined;
    return email === undefined ? undefined : { ...account, email, api_key: people.get(email) as string };
  };
  const admin = renewed(file?.admin) ?? { email: first?.[0] ?? "", password: "", api_key: first?.[1] ?? "" };
  const analyst = renewed(file?.analyst) ?? { email: "", password: "", api_key: "" };
  const now = { base_url: file?.base_url ?? "", grpc_url: file?.grpc_url ?? "", admin, analyst };
  writePrivate(join(dataDir, "bootstrap.json"), `${JSON.stringify(now, null, 2)}\n`);
}
