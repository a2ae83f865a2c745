import { permissionsOf } from "../rights.js";
import type { Json, User, World } from "../world.js";

/** GET /api/iam/current-user/: the caller, and what it may do folder by folder. */
export function currentUserOf(world: World, user: User): Json {
  const domain_permissions = permissionsOf(world, user);
  const roles = [...new Set(user.grants.map(({ role }) => role))];
  return {
    id: user.id,
    actor_id: user.actorId,
    all_actor_ids: [user.actorId],
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    is_active: user.active,
    date_joined: user.joinedAt,
    user_groups: roles.map(({ group }) => [group, true]),
    roles: roles.map(({ code }) => code),
    is_third_party: false,
    is_auditee: false,
    is_admin: roles.some(({ code }) => code === "BI-RL-ADM"),
    is_local: true,
    is_sso: false,
    accessible_domains: Object.keys(domain_permissions).filter((id) => id !== world.rootId),
    domain_permissions,
    root_folder_id: world.rootId,
    preferences: { lang: "en" },
    has_mfa_enabled: false,
    is_superuser: false,
  };
}
