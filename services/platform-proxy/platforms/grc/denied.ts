import { deniedByRoute } from "../../lib/denied-routes.js";

/**
 * Administration of a CISO Assistant, from its URL configuration: accounts,
 * groups, roles, domains, sign-in, settings, integrations, automation,
 * dashboards, import and export of the database, and its libraries.
 */
export const isDenied = deniedByRoute({
  all: new Set([
    "users",
    "user-groups",
    "user-preferences",
    "roles",
    "role-assignments",
    "iam",
    "_allauth",
    "accounts",
    "identity",
    "idp-groups",
    "scim",
    "settings",
    "webhooks",
    "integrations",
    "automation",
    "workflows",
    "metrology/dashboards",
    "metrology/dashboard-widgets",
    "portals",
    "portal-presets",
    "serdes",
    "data-wizard",
    "quick-start",
  ]),
  writes: new Set([
    "folders",
    "actors",
    "teams",
    "representatives",
    "stored-libraries",
    "loaded-libraries",
    "library-drafts",
    "mapping-libraries",
    "custom-fields",
    "object-classifications",
    "classification-levels",
    "terminologies",
    "presets",
  ]),
});
