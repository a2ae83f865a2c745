import { setTimeout as sleep } from "node:timers/promises";
import type { Person } from "../frame/product.js";
import { ask } from "./rows/lives.js";
import type { Stage } from "./stage.js";
import { FIRST } from "./world.js";

/** How long rights that were given may take to act, in looks a second apart. */
const LOOKS = 40;

/**
 * Somebody with just some rights in the first tenant, once they act.
 *
 * @param scenario one that this person may launch.
 */
export async function somebodyWith(
  stage: Stage,
  name: string,
  rights: readonly string[],
  scenario?: string,
): Promise<Person> {
  const email = `${name}-${stage.world.run}@truth.test`;
  const account = { user_email: email, user_firstname: name, user_lastname: stage.world.run, user_admin: false };
  const make = async (path: string, body: object, id: string): Promise<string> => {
    const made = (await ask(stage, FIRST, "POST", path, body))[id];
    stage.world.removeLater(FIRST, `${path}/${made}`);
    return made;
  };
  const user = await make("/users", { ...account, user_plain_password: "Truth-2026-test" }, "user_id");
  const label = `${name} ${stage.world.run}`;
  const group = await make("/groups", { group_name: label, group_default_user_assign: false }, "group_id");
  const role = await make("/roles", { role_name: label, role_capabilities: rights }, "role_id");
  await ask(stage, FIRST, "PUT", `/groups/${group}/users`, { group_users: [user] });
  await ask(stage, FIRST, "PUT", `/groups/${group}/roles`, { group_roles: [role] });
  if (scenario !== undefined) {
    const grant = { grant_name: "LAUNCHER", grant_resource: scenario, grant_resource_type: "SCENARIO" };
    await ask(stage, FIRST, "POST", `/groups/${group}/grants`, grant);
  }
  for (let i = 0; i < LOOKS; i++) {
    const me = await stage.platform.need(email, "GET", "/api/me");
    const may =
      scenario === undefined ||
      (await stage.platform.read(email, `/api/tenants/${FIRST}/scenarios/${scenario}`)) !== undefined;
    if (may && rights.every((right) => me.user_capabilities.includes(right))) break;
    await sleep(1_000);
  }
  return stage.product.person(name, email);
}
