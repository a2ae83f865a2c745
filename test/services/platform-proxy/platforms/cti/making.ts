import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import type { Harness } from "./harness.js";

let made = 0;

/** A name that nothing bears yet. */
export const fresh = (what: string): string => `${what} ${++made} written by test`;

/** Makes a malware by the tool for it. */
export async function makeMalware(
  harness: Harness,
  as = "analyst",
  refs = {},
): Promise<{ readonly id: string; readonly name: string }> {
  const name = fresh("Malware");
  const { result } = await harness.call(EntityService.method.createEntity, { type: "Malware", name, refs }, as);
  return { id: result!.object!.id, name };
}

/** Makes an object that only an administrator may see. */
export const makeSecret = (harness: Harness) => makeMalware(harness, "admin", { markings: ["TLP:RED"] });
