import { DEFAULT_TENANT, type GrantLevel, SECOND_TENANT, type User, type World } from "../world.js";
import type { Draw } from "./draw.js";

const AREAS = [
  "ASSESSMENT",
  "TEAMS_AND_PLAYERS",
  "ASSETS",
  "PAYLOADS",
  "DASHBOARDS",
  "FINDINGS",
  "DOCUMENTS",
  "CHANNELS",
  "CHALLENGES",
  "LESSONS_LEARNED",
] as const;

/** Every capability but those over settings. */
const ALL_BUT_SETTINGS = new Set([
  ...AREAS.flatMap((area) => [`ACCESS_${area}`, `MANAGE_${area}`, `DELETE_${area}`]),
  "LAUNCH_ASSESSMENT",
]);

/** Plans and runs assessments, deletes nothing. */
const ANALYST = new Set([
  ...AREAS.map((area) => `ACCESS_${area}`),
  "MANAGE_ASSESSMENT",
  "LAUNCH_ASSESSMENT",
  "MANAGE_ASSETS",
  "MANAGE_FINDINGS",
]);

/** Sees all of a tenant and changes nothing. */
const READER = new Set(AREAS.map((area) => `ACCESS_${area}`));

/** Prepares drills: plans with documents, and nothing else. */
const DRILLER = new Set([
  ...["ACCESS_ASSESSMENT", "MANAGE_ASSESSMENT", "ACCESS_DOCUMENTS", "MANAGE_DOCUMENTS"],
  ...["ACCESS_CHANNELS", "ACCESS_LESSONS_LEARNED"],
]);

const DOMAIN = "sallyport.example";

type Add = (name: string, tenants: readonly string[], rights: Partial<User>, grants?: [string, GrantLevel][]) => void;

function adderOf(world: World, draw: Draw, now: number): Add {
  return (name, tenants, rights, grants = []) => {
    const user: User = {
      id: draw.uuid(),
      email: `${name}@${DOMAIN}`,
      firstname: name.charAt(0).toUpperCase() + name.slice(1),
      lastname: "Example",
      admin: false,
      tenants,
      capabilities: new Map(),
      grants: new Map(grants),
      createdAt: now - 90 * 86_400_000,
      ...rights,
    };
    world.users.set(user.email, user);
  };
}

/** An account with just the rights of a job; drawn last, so that it moves no other draw. */
export function seedDriller(world: World, draw: Draw, now: number): void {
  adderOf(world, draw, now)("driller", [DEFAULT_TENANT], { capabilities: new Map([[DEFAULT_TENANT, DRILLER]]) });
}

/** Another, who runs one scenario and sees what payloads play. */
export function seedOperator(world: World, draw: Draw, now: number): void {
  const [, , third = ""] = world.scenarios.keys();
  const capabilities = new Map([[DEFAULT_TENANT, new Set(["ACCESS_PAYLOADS"])]]);
  adderOf(world, draw, now)("operator", [DEFAULT_TENANT], { capabilities }, [[third, "LAUNCHER"]]);
}

/** Accounts of every kind of right; grants are on the first scenarios of the default tenant. */
export function seedUsers(world: World, draw: Draw, now: number): void {
  const [first = "", second = "", third = ""] = [...world.scenarios.values()].map(({ id }) => id);
  const both = [DEFAULT_TENANT, SECOND_TENANT];
  const add = adderOf(world, draw, now);
  add("admin", both, { admin: true });
  add("analyst", [DEFAULT_TENANT], { capabilities: new Map([[DEFAULT_TENANT, ANALYST]]) });
  add("planner", both, { capabilities: new Map([[DEFAULT_TENANT, ALL_BUT_SETTINGS]]) });
  add("observer", [DEFAULT_TENANT], {}, [[first, "OBSERVER"]]);
  add("granted", [DEFAULT_TENANT], {}, [[second, "PLANNER"]]);
  add("nobody", [DEFAULT_TENANT], {});
  add("outsider", [SECOND_TENANT], { capabilities: new Map([[SECOND_TENANT, ALL_BUT_SETTINGS]]) });
  add("reader", [DEFAULT_TENANT], { capabilities: new Map([[DEFAULT_TENANT, READER]]) });
  // A person in a team is an account too, without rights.
  add("paula", [DEFAULT_TENANT], { lastname: "Player" });
  // A grant on a scenario does not reach its simulations: one of these has one of its own.
  const run = world.scenarios.get(first)?.simulations[0] ?? "";
  add("watcher", [DEFAULT_TENANT], {}, [
    [first, "OBSERVER"],
    [run, "OBSERVER"],
  ]);
  add("launcher", [DEFAULT_TENANT], {}, [[third, "LAUNCHER"]]);
  add("both", both, { capabilities: new Map([[SECOND_TENANT, READER]]) });
}

/** The player belongs to an organization of the first tenant. */
export function seedMember(world: World): void {
  const player = [...world.users.values()].find(({ lastname }) => lastname === "Player")!;
  const organizations = [...(world.entries.get("organizations")?.values() ?? [])];
  const organization = organizations.find(({ tenant }) => tenant === DEFAULT_TENANT)!.id;
  world.users.set(player.email, { ...player, organization });
}
