import {
  ADMINISTRATOR,
  ANALYST,
  ASSESSOR,
  AUDITEE,
  CAREFUL_ANALYST,
  MANAGER,
  READER,
  RESPONDENT,
  RISK_ANALYST,
  TESTER,
} from "../rights.js";
import { type Grant, type Role, seededId, type World } from "../world.js";

type Seeded = readonly [name: string, grants: readonly (readonly [tenant: string, role: Role])[], active?: boolean];

/** The accounts, by the first part of their e-mail address. */
const USERS: readonly Seeded[] = [
  ["admin", [["root", ADMINISTRATOR]]],
  ["analyst", [["northwind", CAREFUL_ANALYST]]],
  ["officer", [["northwind", ANALYST]]],
  ["manager", [["baltic", MANAGER]]],
  ["reader", [["northwind", READER]]],
  [
    "consultant",
    [
      ["northwind", ANALYST],
      ["baltic", ANALYST],
    ],
  ],
  ["regional", [["northwind-retail", ANALYST]]],
  ["branch", [["northwind-retail", READER]]],
  ["auditee", [["northwind", AUDITEE]]],
  ["tester", [["northwind", TESTER]]],
  ["overseer", [["root", READER]]],
  ["supplier", [["northwind-supplier", RESPONDENT]]],
  ["assessor", [["northwind", ASSESSOR]]],
  ["pricer", [["northwind", RISK_ANALYST]]],
  ["outsider", []],
  ["leaver", [["northwind", READER]], false],
];

/** Seeds the accounts, each with the actor that owns things. */
export function seedUsers(world: World, at: string): void {
  for (const [name, grants, active = true] of USERS) {
    const held = grants.map(([tenant, role]) => ({ folder: seededId(`folder:${tenant}`), role }));
    seedUser(world, `${name}@sallyport.example`, held, active, at);
  }
}

/** Adds one account, with its actor. */
export function seedUser(world: World, email: string, grants: readonly Grant[], active: boolean, at: string): void {
  const name = email.split("@", 1)[0] as string;
  const actorId = seededId(`actor:${name}`);
  const firstName = name.charAt(0).toUpperCase() + name.slice(1);
  const id = seededId(`user:${name}`);
  world.users.set(email, { id, actorId, email, firstName, lastName: "User", active, joinedAt: at, grants });
  world.insert("actors", {
    id: actorId,
    folder: world.rootId,
    name: `${firstName} User`,
    created_at: at,
    updated_at: at,
  });
}
