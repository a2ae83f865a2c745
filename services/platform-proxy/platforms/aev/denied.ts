import { deniedByRoute } from "../../lib/denied-routes.js";

/**
 * Administration of an OpenAEV 2.4.0, from the mappings of its controllers:
 * accounts, groups, roles, tenants, settings, connectors, dashboards,
 * notification, import of foreign data and its taxonomies.
 */
export const isDenied = deniedByRoute({
  all: new Set([
    "users",
    "groups",
    "roles",
    "platform-users",
    "platform-groups",
    "platform-roles",
    "tenants",
    "settings",
    "reset",
    "logs",
    "login",
    "logout",
    "catalog-connector",
    "connector-instances",
    "xtm-composer",
    "xtmhub",
    "xtmone",
    "custom-dashboards",
    "dashboards",
    "notification-rules",
    "mappers",
    "stix",
    "tag-rules",
  ]),
  writes: new Set([
    "me",
    "organizations",
    "players",
    "collectors",
    "executors",
    "injectors",
    "injector_contracts",
    "security_platforms",
    "attack_patterns",
    "kill_chain_phases",
    "mitigations",
    "domains",
  ]),
});
