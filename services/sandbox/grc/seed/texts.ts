/** The tenants with their domains: key, name, and the key of the domain above. */
export const TENANTS: readonly {
  readonly key: string;
  readonly name: string;
  /** The first part of the e-mail address of who owns things there. */
  readonly owner: string;
  readonly domains: readonly (readonly [key: string, name: string, parent: string])[];
}[] = [
  {
    key: "northwind",
    name: "Northwind Energy",
    owner: "analyst",
    domains: [
      ["northwind-grid", "Grid operations", "northwind"],
      ["northwind-retail", "Retail", "northwind"],
      ["northwind-billing", "Billing", "northwind-retail"],
    ],
  },
  {
    key: "baltic",
    name: "Baltic Trust Bank",
    owner: "manager",
    domains: [
      ["baltic-payments", "Payments", "baltic"],
      ["baltic-retail", "Retail", "baltic"],
    ],
  },
  { key: "helios", name: "Helios Health", owner: "admin", domains: [["helios-hospitals", "Hospitals", "helios"]] },
];

/** Usual controls: name, category, function. */
export const CONTROLS: readonly (readonly [name: string, category: string, csf: string])[] = [
  ["MFA for administrators", "technical", "protect"],
  ["Offline backups", "process", "recover"],
  ["Log review", "process", "detect"],
  ["Network segmentation", "technical", "protect"],
  ["Endpoint detection and response", "technical", "detect"],
  ["Patch management", "process", "protect"],
  ["Vulnerability scanning", "technical", "identify"],
  ["Security awareness training", "process", "protect"],
  ["Phishing simulation", "procedure", "protect"],
  ["Information security policy", "policy", "govern"],
  ["Acceptable use policy", "policy", "govern"],
  ["Access review", "procedure", "protect"],
  ["Joiner, mover, leaver process", "process", "protect"],
  ["Privileged access management", "technical", "protect"],
  ["Password manager", "technical", "protect"],
  ["Disk encryption", "technical", "protect"],
  ["TLS everywhere", "technical", "protect"],
  ["Key management", "procedure", "protect"],
  ["Data classification", "policy", "identify"],
  ["Data loss prevention", "technical", "protect"],
  ["Asset inventory", "process", "identify"],
  ["Software inventory", "technical", "identify"],
  ["Secure configuration baselines", "technical", "protect"],
  ["Change management", "process", "protect"],
  ["Secure development training", "process", "protect"],
  ["Code review", "procedure", "protect"],
  ["Dependency scanning", "technical", "identify"],
  ["Web application firewall", "technical", "protect"],
  ["Central log collection", "technical", "detect"],
  ["Security operations centre", "process", "detect"],
  ["Threat intelligence feed", "process", "identify"],
  ["Incident response plan", "procedure", "respond"],
  ["Incident response exercise", "procedure", "respond"],
  ["Crisis communication plan", "procedure", "respond"],
  ["Disaster recovery plan", "procedure", "recover"],
  ["Restore test", "procedure", "recover"],
  ["Supplier due diligence", "process", "govern"],
  ["Supplier contract clauses", "policy", "govern"],
  ["Visitor management", "physical", "protect"],
  ["Server room access control", "physical", "protect"],
];

/** Names of threats. */
export const THREATS = [
  "Ransomware",
  "Phishing",
  "Supply chain compromise",
  "Insider fraud",
  "Denial of service",
  "Credential stuffing",
  "Data theft",
  "Hardware failure",
  "Loss of a site",
  "Misconfiguration",
];

/** Systems; every fourth is a primary asset that the next three carry. */
export const SYSTEMS = [
  "payment service",
  "card database",
  "payment gateway",
  "fraud scoring",
  "customer portal",
  "web farm",
  "identity provider",
  "content delivery",
  "control room",
  "historian",
  "field gateways",
  "engineering workstations",
  "workforce management",
  "directory",
  "mail server",
  "file server",
  "analytics",
  "data lake",
  "reporting database",
  "notebook cluster",
  "contact centre",
  "telephony",
  "call recording",
  "chat service",
  "finance ledger",
  "invoice archive",
  "treasury workstation",
  "consolidation tool",
  "software delivery",
  "source repository",
  "build runners",
  "artifact registry",
  "crisis management",
  "backup vault",
  "recovery site",
  "satellite phones",
];

/** Names of risks. */
export const RISKS = [
  "ransomware",
  "card data theft",
  "insider fraud",
  "supplier VPN compromise",
  "phishing of finance staff",
  "denial of service on the portal",
  "loss of the main data centre",
  "cloud misconfiguration",
  "unpatched internet-facing server",
  "stolen laptop",
  "leaked source code",
  "fraudulent payment order",
  "sabotage of field equipment",
  "loss of a key supplier",
  "privacy breach in analytics",
  "credential stuffing",
  "compromised build pipeline",
  "failed restore",
  "social engineering of the contact centre",
  "expired certificate outage",
];

/** Ways to attack: path, who, what for, how. */
export const ATTACKS: readonly (readonly [path: string, origin: string, objective: string, mode: string])[] = [
  ["Supplier VPN", "Activist", "Resell customer data", "Stolen VPN account, then database export"],
  [
    "Phished administrator",
    "Organized crime",
    "Extort a ransom",
    "Mail with a lure, session theft, encryption of servers",
  ],
  ["Exposed service", "Organized crime", "Extort a ransom", "Known vulnerability, web shell, lateral movement"],
  ["Poisoned update", "State actor", "Disrupt operations", "Compromised vendor update, dormant until triggered"],
  ["Bribed employee", "Competitor", "Steal designs", "Export of files to a private account"],
  ["Stolen backup", "Insider", "Sell personal data", "Copy of an unencrypted backup disk"],
  ["Leaked key", "Opportunist", "Mine currency", "Cloud key found in a public repository"],
  ["Fake technician", "Organized crime", "Plant a device", "Visit under a pretext, device on the office network"],
  ["Contact centre", "Organized crime", "Take over accounts", "Talked agents into resetting passwords"],
  ["Field gateway", "State actor", "Disrupt operations", "Default password on a gateway, forged commands"],
];

/** Known vulnerabilities: CVE, what, CVSS score, whether exploited. */
export const ADVISORIES: readonly (readonly [ref: string, name: string, score: string, exploited: boolean])[] = [
  ["CVE-2014-0160", "OpenSSL heartbeat over-read", "7.5", true],
  ["CVE-2021-44228", "Log4j JNDI lookup", "10.0", true],
  ["CVE-2017-0144", "SMBv1 remote code execution", "8.8", true],
  ["CVE-2019-19781", "Application delivery controller path traversal", "9.8", true],
  ["CVE-2020-1472", "Netlogon elevation of privilege", "10.0", true],
  ["CVE-2021-26855", "Mail server request forgery", "9.8", true],
  ["CVE-2021-34527", "Print spooler remote code execution", "8.8", true],
  ["CVE-2022-22965", "Spring data binding remote code execution", "9.8", true],
  ["CVE-2023-34362", "File transfer SQL injection", "9.8", true],
  ["CVE-2024-3094", "Backdoor in a compression library", "10.0", false],
];
