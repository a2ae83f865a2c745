import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { idOf, LISTS } from "../seen.js";
import { holdsNothingHidden, personOf, refuses, type Stage, seenBy, tenantOf } from "../stage.js";
import { NOWHERE, STRANGERS, WORKERS } from "./tenants.js";
import { admin, cannot, changedBy, freshEvidence, refusedWithoutTrace } from "./writing.js";

const REVISIONS = "/api/evidence-revisions/";
const PICTURE = Buffer.from(new Uint8Array(3_000).map((_, i) => 255 - (i % 256)));

/** The file of the latest version, as the platform hands it to somebody. */
const direct = ({ platform, world }: Stage, person: string, id: string) =>
  platform.download(world.emails[person]!, `${LISTS.evidence}${id}/attachment/`);

/** What a tool said a file holds. */
const bytesOf = (told: Readonly<Record<string, unknown>>) =>
  told.text === undefined ? Buffer.from(String(told.content_base64 ?? ""), "base64") : Buffer.from(String(told.text));

/** Who adds proof, with the folder that it lies in. */
const WRITERS: Readonly<Record<string, string>> = {
  administrator: "alpha",
  analyst: "shop",
  both: "east",
  manager: "beta",
  auditee: "alpha",
  respondent: "enclave",
};

async function mayAddVersions(stage: Stage, person: string, folder: string): Promise<boolean> {
  const me = await stage.platform.need(stage.world.emails[person]!, "GET", "/api/iam/current-user/");
  const rights = (me.domain_permissions as Record<string, string[]>)[folder] ?? [];
  return me.is_admin || ["change_evidence", "add_evidencerevision"].every((right) => rights.includes(right));
}

/** Names that the platform spells otherwise, or not at all. */
const NAMES = [
  "Übersicht 2026 (final).txt",
  "REPORT.PDF",
  "a.b.c.json",
  "txt of txt.txt",
  "записка.md",
  "md.md",
  `quo"te; x=1.csv`,
];

/** Tools that put files onto evidence, and read them back. */
export const evidenceFileTruths: readonly Truth<Stage>[] = [
  {
    tool: "upload_evidence_file",
    cases: [
      {
        about: "puts a file onto new evidence and onto old, byte for byte, and loses none",
        as: Object.keys(WRITERS),
        async prove(stage, person) {
          const { ids } = stage.world;
          const folder = ids[WRITERS[person]!]!;
          const id = await freshEvidence(stage, { folder });
          const { id: tenant_id } = await tenantOf(stage, person);
          const send = (file_name: string, bytes: Buffer) =>
            changedBy(stage, person, "upload_evidence_file", {
              tenant_id,
              evidence_id: id,
              file_name,
              content_base64: bytes.toString("base64"),
            });
          const first = await send("notes of the review.txt", Buffer.from("eins für alle"));
          if (!(await mayAddVersions(stage, person, folder))) {
            expect(first.said.refusal).toMatch(/right/);
            return expect(first.changes).toEqual([]);
          }
          expect(first.said.refusal).toBe("");
          expect(first.said.result).toMatchObject({ new_version: false, evidence: { id } });
          expect((await direct(stage, "administrator", id))?.bytes.toString()).toBe("eins für alle");
          const others = ({ changes }: typeof first) => changes.filter((one) => !one.startsWith(id));
          const [version, ...more]: Row[] = await stage.platform.list(
            stage.world.emails.administrator!,
            `${REVISIONS}?evidence=${id}`,
          );
          expect(more).toEqual([]);
          expect(others(first).every((one) => one.startsWith(version!.id))).toBe(true);
          const second = await send("picture.png", PICTURE);
          expect(second.said.refusal).toBe("");
          expect(second.said.result).toMatchObject({ new_version: true, evidence: { id, status: "in_review" } });
          expect(others(second)).toEqual([expect.stringMatching(/^\+/)]);
          expect((await direct(stage, "administrator", id))?.bytes.equals(PICTURE)).toBe(true);
          const old = await stage.platform.download(
            stage.world.emails.administrator!,
            `${REVISIONS}${version!.id}/attachment/`,
          );
          expect(old?.bytes.toString()).toBe("eins für alle");
          const read = await personOf(stage, person).get<Row>("read_evidence_file", { tenant_id, evidence_id: id });
          expect(bytesOf(read).equals(PICTURE)).toBe(true);
        },
      },
      {
        about: "what has a link gets a version, which keeps the link in the one before",
        as: ["analyst"],
        async prove(stage, person) {
          const link = "https://proof.example/kept";
          const id = await freshEvidence(stage, { link });
          const args = {
            tenant_id: stage.world.ids.alpha,
            evidence_id: id,
            file_name: "a.txt",
            content_base64: "YQ==",
          };
          const { said } = await changedBy(stage, person, "upload_evidence_file", args);
          expect(said.result).toMatchObject({ new_version: true });
          const versions = await stage.platform.list(stage.world.emails.administrator!, `${REVISIONS}?evidence=${id}`);
          const inOrder = versions.toSorted((a, b) => Number(a.version) - Number(b.version));
          expect(inOrder.map((one) => one.link)).toEqual([link, null]);
        },
      },
      {
        about: "any name is taken whole or refused without a trace",
        as: ["analyst"],
        async prove(stage, person) {
          for (const file_name of NAMES) {
            const id = await freshEvidence(stage, { link: "https://proof.example/before" });
            const args = { tenant_id: stage.world.ids.alpha, evidence_id: id, file_name, content_base64: "YWI=" };
            const { said, changes } = await changedBy(stage, person, "upload_evidence_file", args);
            if (said.result === undefined) {
              expect(`${file_name}: ${said.refusal}`).toMatch(/file_name: /);
              expect(changes).toEqual([]);
              continue;
            }
            expect((await direct(stage, "administrator", id))?.bytes.toString()).toBe("ab");
            const row: Row = await admin(stage, "GET", `${LISTS.evidence}${id}/`);
            const name = decodeURIComponent(String(row.attachment).split("/").at(-1)!);
            expect((said.result.evidence as Row).file_name).toBe(name);
          }
        },
      },
      {
        about: "the largest is taken; a larger one, or one of another kind, is refused without a trace",
        as: ["administrator", "auditee"],
        async prove(stage, person) {
          const id = await freshEvidence(stage);
          const args = (size: number, file_name = "large.zip") => ({
            tenant_id: stage.world.ids.alpha,
            evidence_id: id,
            file_name,
            content_base64: Buffer.alloc(size, 7).toString("base64"),
          });
          await refusedWithoutTrace(stage, person, "upload_evidence_file", args(262_145), /content_base64/);
          await refusedWithoutTrace(
            stage,
            person,
            "upload_evidence_file",
            args(10, "virus.exe"),
            /does not accept .exe/,
          );
          const { said } = await changedBy(stage, person, "upload_evidence_file", args(262_144));
          expect(said.refusal).toBe("");
          expect((await direct(stage, "administrator", id))?.bytes.length).toBe(262_144);
        },
      },
      cannot("upload_evidence_file", ({ world }) => ({
        evidence_id: world.ids.evidence0,
        file_name: "no.txt",
        content_base64: "bm8=",
      })),
    ],
  },
  {
    tool: "read_evidence_file",
    cases: [
      {
        about: "reads what the platform hands to the same person, and nothing else",
        as: WORKERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const tenant = await tenantOf(stage, person);
          const isOffered = (await personOf(stage, person).tools()).includes("read_evidence_file");
          for (const key of ["evidence0", "evidence1", "shopFile", "betaFile", "enclaveFile", "rootEvidence"]) {
            const id = ids[key]!;
            const row = await seenBy(stage, person).read(LISTS.evidence, id);
            const folder = idOf(row?.folder) ?? "";
            const isOpen = tenant.folders.has(folder) || folder === ids.root;
            const args = { tenant_id: tenant.id, evidence_id: id };
            const file = await direct(stage, person, id);
            if (!isOpen || !isOffered) {
              await refuses(stage, person, "read_evidence_file", args, /evidence_id: |needs the right/);
            } else if (file === undefined) {
              await refuses(stage, person, "read_evidence_file", args, /has no file/);
            } else {
              const whole = await personOf(stage, person).ask("read_evidence_file", { ...args, max_bytes: 65_536 });
              expect(bytesOf(whole.result ?? {}).equals(file.bytes)).toBe(true);
              const file_name = decodeURIComponent(String(row!.attachment).split("/").at(-1)!);
              expect(whole.result).toMatchObject({ file_name, size: file.bytes.length, media_type: file.mediaType });
              expect(whole.result?.next_offset).toBeUndefined();
              await holdsNothingHidden(stage, person, whole.text);
            }
          }
        },
      },
      {
        about: "a part at a time it is the same, wherever letters are cut",
        as: ["administrator", "analyst", "reader", "granted", "manager", "overseer", "respondent"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const keys: Readonly<Record<string, readonly [key: string, bytes: number]>> = {
            granted: ["shopFile", 7_000],
            manager: ["betaFile", 5],
            respondent: ["enclaveFile", 3],
          };
          const [key, max_bytes] = keys[person] ?? ["evidence1", 9];
          const evidence_id = ids[key]!;
          const { id: tenant_id } = await tenantOf(stage, person);
          const file = await direct(stage, person, evidence_id);
          const isOffered = (await personOf(stage, person).tools()).includes("read_evidence_file");
          if (file === undefined || !isOffered) {
            return refuses(stage, person, "read_evidence_file", { tenant_id, evidence_id });
          }
          const parts: Buffer[] = [];
          let offset: number | undefined = 0;
          while (offset !== undefined) {
            const args = { tenant_id, evidence_id, offset, max_bytes };
            const part: Row = await personOf(stage, person).get<Row>("read_evidence_file", args);
            parts.push(bytesOf(part));
            offset = part.next_offset as number | undefined;
          }
          expect(Buffer.concat(parts).equals(file.bytes)).toBe(true);
          const after = { tenant_id, evidence_id, offset: file.bytes.length };
          await refuses(stage, person, "read_evidence_file", after, /offset: /);
        },
      },
      {
        about: "is refused to who has no role or no account",
        as: STRANGERS,
        prove: (stage, person) =>
          refuses(stage, person, "read_evidence_file", { evidence_id: stage.world.ids.evidence1 }, NOWHERE),
      },
    ],
  },
];
