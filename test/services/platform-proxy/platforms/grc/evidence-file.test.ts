import type { MessageShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControlService } from "#proto/grc/v1/control_service_pb.js";
import { EvidenceService, EvidenceStatus } from "#proto/grc/v1/evidence_service_pb.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";

const { createEvidence, uploadEvidenceFile, readEvidenceFile, attachEvidence, updateEvidence } = EvidenceService.method;
const { createControl } = ControlService.method;

let harness: GrcHarness;
beforeAll(async () => {
  harness = await startGrc("bearer");
});
afterAll(() => harness.close());

const base64 = (bytes: string | Uint8Array) => Buffer.from(bytes).toString("base64");
const refused = (call: Promise<unknown>, code: Code, words: RegExp) =>
  expect(call).rejects.toMatchObject({ code, rawMessage: expect.stringMatching(words) });

test("content that was cut is refused, and the evidence stays as it was", async () => {
  const { evidence } = await harness.call(createEvidence, { name: "Cut" });
  const whole = base64("A text of some length");
  for (const contentBase64 of [whole.slice(0, 9), whole.slice(0, 10), whole.slice(0, 11)]) {
    const cut = { evidenceId: evidence!.id, fileName: "cut.txt", contentBase64 };
    await refused(harness.call(uploadEvidenceFile, cut), Code.InvalidArgument, /^content_base64: is cut/);
  }
  await refused(harness.call(readEvidenceFile, { evidenceId: evidence!.id }), Code.FailedPrecondition, /has no file/);
});

test("a file goes onto new evidence as its first version, and onto old as a new one in review", async () => {
  const { evidence } = await harness.call(createEvidence, { name: "Restore test" });
  const evidenceId = evidence!.id;
  const text = "Überprüft: alles läuft.";
  const first = await harness.call(uploadEvidenceFile, {
    evidenceId,
    fileName: "Restore Log.txt",
    contentBase64: base64(text),
  });
  expect(first).toMatchObject({ newVersion: false, evidence: { fileName: "restore_log.txt" } });
  const parts: string[] = [];
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    // Parts of two bytes would cut every umlaut.
    const part: MessageShape<typeof readEvidenceFile.output> = await harness.call(readEvidenceFile, {
      evidenceId,
      offset,
      maxBytes: 2,
    });
    parts.push(part.text!);
    offset = part.nextOffset;
  }
  expect(parts.join("")).toBe(text);
  const bytes = new Uint8Array([0, 1, 2, 255, 254]);
  const second = await harness.call(uploadEvidenceFile, {
    evidenceId,
    fileName: "b.png",
    contentBase64: base64(bytes),
  });
  expect(second).toMatchObject({ newVersion: true, evidence: { status: EvidenceStatus.IN_REVIEW } });
  const read = await harness.call(readEvidenceFile, { evidenceId });
  expect(read).toMatchObject({ mediaType: "image/png", size: 5, contentBase64: base64(bytes) });
});

test("what cannot come of it is refused before anything is made", async () => {
  const evidenceId = seededId("evidences:northwind:1");
  const versions = async () => {
    const list = await harness.ask("admin", "GET", `/api/evidence-revisions/?evidence=${evidenceId}`);
    return (list as unknown as { count: number }).count;
  };
  const before = await versions();
  const upload = (fileName: string, content: string, as?: string) =>
    harness.call(uploadEvidenceFile, { evidenceId, fileName, contentBase64: base64(content) }, as);
  await refused(upload("run.exe", "x"), Code.InvalidArgument, /does not accept .exe/);
  for (const name of ["md.md", "txt .txt"]) {
    await refused(upload(name, "x"), Code.InvalidArgument, /file_name: .* needs more than its extension/);
  }
  await refused(upload("large.txt", "x".repeat((256 << 10) + 1)), Code.InvalidArgument, /256 KiB|349528/);
  await refused(upload("a.txt", "x", "reader"), Code.PermissionDenied, /change_evidence/);
  expect(await versions()).toBe(before);
  await refused(harness.call(readEvidenceFile, { evidenceId }), Code.FailedPrecondition, /has no file/);
  const foreign = { evidenceId: seededId("evidences:baltic:1") };
  await refused(harness.call(readEvidenceFile, foreign), Code.NotFound, /evidence_id/);
});

test("files that are uploaded at once all become versions, and one alone is the first", async () => {
  const { evidence } = await harness.call(createEvidence, { name: "Uploaded at once" });
  const evidenceId = evidence!.id;
  const said = await Promise.all(
    [0, 1, 2, 3, 4].map((i) =>
      harness.call(uploadEvidenceFile, { evidenceId, fileName: `part${i}.txt`, contentBase64: base64(`part ${i}`) }),
    ),
  );
  expect(said.map(({ newVersion }) => newVersion).sort()).toEqual([false, true, true, true, true]);
  expect(new Set(said.map((one) => one.evidence!.fileName)).size).toBe(5);
});

test("a file that comes at once with a link is another version", async () => {
  const { evidence } = await harness.call(createEvidence, { name: "Linked at once" });
  const evidenceId = evidence!.id;
  const [, uploaded] = await Promise.all([
    harness.call(updateEvidence, { evidenceId, link: "https://proof.example/a" }),
    harness.call(uploadEvidenceFile, { evidenceId, fileName: "proof.txt", contentBase64: base64("proof") }),
  ]);
  expect(uploaded.newVersion).toBe(true);
});

test("evidence that is attached to a control at once is all there", async () => {
  const { control } = await harness.call(createControl, { name: "Attached at once" });
  const made = await Promise.all(
    [0, 1, 2, 3, 4].map((i) => harness.call(createEvidence, { name: `Attached at once ${i}` })),
  );
  const said = await Promise.all(
    made.map(({ evidence }) =>
      harness.call(attachEvidence, {
        evidenceId: evidence!.id,
        controlId: control!.id,
      }),
    ),
  );
  expect(said.map(({ evidenceCount }) => evidenceCount).sort()).toEqual([1, 2, 3, 4, 5]);
});
