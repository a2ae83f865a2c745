import { unseen } from "../../lib/outcome.js";
import type { Platform } from "../../platform.js";
import { operation } from "./graphql.js";
import { type RefNode, refOf } from "./knowledge.js";
import { OBJECT } from "./resolve.js";

/** Deletes an object. */
export const DELETE = operation(`
  mutation Delete($id: ID!) {
    stixCoreObjectEdit(id: $id) {
      delete
    }
  }
`);

/** Deletes an object and reads whether it is gone. @throws ConnectError aborted, where it is still there. */
export async function deleteObject(platform: Platform, target: RefNode) {
  await platform.graphql(DELETE, { id: target.id });
  await checkGone(platform, target.id);
  return refOf(target);
}

/** @throws ConnectError aborted, where what was deleted is still there. */
export async function checkGone(platform: Platform, id: string): Promise<void> {
  const { stixCoreObject } = await platform.graphql(OBJECT, { id });
  if (stixCoreObject !== null) throw stillThere();
}

/** What is said of a deletion that the platform took and did not make. */
export const stillThere = () =>
  unseen("OpenCTI accepted the deletion, but the object still exists; try again in a few seconds");
