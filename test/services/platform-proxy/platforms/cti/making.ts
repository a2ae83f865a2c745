import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import type { CtiHarness } from "../../../../support/platforms/cti.js";

let made = 0;

/** A name that nothing bears yet. */
export const fresh = (what: string): string => `${what} ${++made} written by test`;

/** Makes a malware by the tool for it. */
export async function makeMalware(
  harness: CtiHarness,
  as = "analyst",
  refs = {},
): Promise<{ readonly id: string; readonly name: string }> {
  const name = fresh("Malware");
  const { result } = await harness.call(EntityService.method.createEntity, { type: "Malware", name, refs }, as);
  return { id: result!.object!.id, name };
}

/** Makes an object that only an administrator may see. */
export const makeSecret = (harness: CtiHarness) => makeMalware(harness, "admin", { markings: ["TLP:RED"] });
