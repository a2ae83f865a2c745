import { deniedByField } from "../../lib/denied-fields.js";

/**
 * Administration of an OpenCTI 6, from the Query and Mutation types of its
 * schema: a field is denied that is one of these, or that goes on in camel case
 * behind one (`group` denies groupAdd and not grouping).
 */
const FAMILIES = [
  // Accounts, their rights and their sign-in; meEdit but not me.
  "user users meEdit group groups role roles capabilities session sessions sessionKill systemMembers",
  "changePassword otp token authenticationProvider authenticationProviders ldapProvider oidcProvider samlProvider",
  "verifyMfa verifyOtp logout authLogHistory requestAccess sendUserMail",
  // Who an organization's data is shared with and who administers it; the organization itself is knowledge.
  "organizationAdmin organizationRelation organizationEdit stixCoreObjectsRestricted",
  // Settings and customization.
  "settings theme themes entitySetting entitySettings subTypeEdit statusTemplate customField customFieldDefinition",
  "customFieldDefinitions customView customViews decayRule decayRules decayExclusionRule decayExclusionRules",
  "exclusionList exclusionLists fintelDesign fintelDesigns fintelTemplate caseTemplate taskTemplate emailTemplate",
  "vocabularyAdd vocabularyDelete vocabularyField markingDefinitionAdd markingDefinitionEdit killChainPhaseAdd",
  "killChainPhaseEdit labelEdit metricPatch setupEnterpriseLicense smtpConfiguration managerConfiguration",
  "rule rules rulesRescan retentionRule retentionRules audit audits support supportPackage supportPackages",
  // Playbooks, dashboards, workspaces and drafts.
  "playbook playbooks workspace workspaces public publicDashboard draftWorkspace draftWorkspaces createDraft",
  // Notification and mailing.
  "notifier notifiers notification notifications trigger triggers disseminationList disseminationLists newsFeed",
  // Connectors, ingestion and sharing of data.
  "connector connectors registerConnector registerConnectors deleteConnector updateConnector resetStateConnector",
  "pingConnector managedConnector catalog catalogs contract work works isWorkAlive ingestion ingestions csvMapper",
  "csvMappers jsonMapper jsonMappers form forms feed feeds taxiiCollection taxiiCollections streamCollection",
  "streamCollections synchronizer synchronizers stixBundlePush autoRegister xtmHub contactUsXtmHub checkXTMHub",
  // Mass operations in the background, and the insides of the platform.
  "backgroundTask backgroundTasks deleteBackgroundTask queryTask listTask scopedTask resetFileIndexing",
  "rabbitMQMetrics redisStreamInfo elasticSearchMetrics frontendErrorLog availableSecrets",
]
  .join(" ")
  .replaceAll(" ", "|");

const DENIED = new RegExp(`^(?:${FAMILIES})(?:[A-Z]|$)`);

/** Tells whether a document administers the platform. */
export const isDenied = deniedByField((field) => DENIED.test(field));
