// The words that the sandbox's objects are made of.

/** MITRE ATT&CK: tactic id, short name, name, order. */
export const TACTICS: readonly (readonly [string, string, string, number])[] = [
  ["TA0001", "initial-access", "Initial Access", 2],
  ["TA0002", "execution", "Execution", 4],
  ["TA0003", "persistence", "Persistence", 5],
  ["TA0004", "privilege-escalation", "Privilege Escalation", 6],
  ["TA0005", "defense-evasion", "Defense Evasion", 7],
  ["TA0006", "credential-access", "Credential Access", 8],
  ["TA0007", "discovery", "Discovery", 9],
  ["TA0008", "lateral-movement", "Lateral Movement", 10],
  ["TA0009", "collection", "Collection", 11],
  ["TA0011", "command-and-control", "Command and Control", 12],
  ["TA0010", "exfiltration", "Exfiltration", 13],
  ["TA0040", "impact", "Impact", 14],
];

/** MITRE ATT&CK: technique id, name, tactic, systems. */
export const TECHNIQUES: readonly (readonly [string, string, string, string])[] = [
  ["T1566", "Phishing", "TA0001", "Windows Linux MacOS"],
  ["T1566.001", "Spearphishing Attachment", "TA0001", "Windows Linux MacOS"],
  ["T1566.002", "Spearphishing Link", "TA0001", "Windows Linux MacOS"],
  ["T1190", "Exploit Public-Facing Application", "TA0001", "Windows Linux"],
  ["T1133", "External Remote Services", "TA0001", "Windows Linux"],
  ["T1078", "Valid Accounts", "TA0001", "Windows Linux MacOS"],
  ["T1059", "Command and Scripting Interpreter", "TA0002", "Windows Linux MacOS"],
  ["T1059.001", "PowerShell", "TA0002", "Windows"],
  ["T1059.003", "Windows Command Shell", "TA0002", "Windows"],
  ["T1059.004", "Unix Shell", "TA0002", "Linux MacOS"],
  ["T1204", "User Execution", "TA0002", "Windows Linux MacOS"],
  ["T1047", "Windows Management Instrumentation", "TA0002", "Windows"],
  ["T1053", "Scheduled Task/Job", "TA0003", "Windows Linux MacOS"],
  ["T1053.005", "Scheduled Task", "TA0003", "Windows"],
  ["T1547", "Boot or Logon Autostart Execution", "TA0003", "Windows Linux MacOS"],
  ["T1136", "Create Account", "TA0003", "Windows Linux MacOS"],
  ["T1543", "Create or Modify System Process", "TA0003", "Windows Linux MacOS"],
  ["T1068", "Exploitation for Privilege Escalation", "TA0004", "Windows Linux MacOS"],
  ["T1548", "Abuse Elevation Control Mechanism", "TA0004", "Windows Linux MacOS"],
  ["T1055", "Process Injection", "TA0004", "Windows Linux MacOS"],
  ["T1027", "Obfuscated Files or Information", "TA0005", "Windows Linux MacOS"],
  ["T1070", "Indicator Removal", "TA0005", "Windows Linux MacOS"],
  ["T1036", "Masquerading", "TA0005", "Windows Linux MacOS"],
  ["T1562", "Impair Defenses", "TA0005", "Windows Linux MacOS"],
  ["T1562.001", "Disable or Modify Tools", "TA0005", "Windows Linux MacOS"],
  ["T1218", "System Binary Proxy Execution", "TA0005", "Windows"],
  ["T1003", "OS Credential Dumping", "TA0006", "Windows Linux"],
  ["T1003.001", "LSASS Memory", "TA0006", "Windows"],
  ["T1110", "Brute Force", "TA0006", "Windows Linux MacOS"],
  ["T1555", "Credentials from Password Stores", "TA0006", "Windows Linux MacOS"],
  ["T1558", "Steal or Forge Kerberos Tickets", "TA0006", "Windows Linux"],
  ["T1558.003", "Kerberoasting", "TA0006", "Windows"],
  ["T1087", "Account Discovery", "TA0007", "Windows Linux MacOS"],
  ["T1082", "System Information Discovery", "TA0007", "Windows Linux MacOS"],
  ["T1046", "Network Service Discovery", "TA0007", "Windows Linux MacOS"],
  ["T1018", "Remote System Discovery", "TA0007", "Windows Linux MacOS"],
  ["T1069", "Permission Groups Discovery", "TA0007", "Windows Linux MacOS"],
  ["T1021", "Remote Services", "TA0008", "Windows Linux MacOS"],
  ["T1021.001", "Remote Desktop Protocol", "TA0008", "Windows"],
  ["T1021.002", "SMB/Windows Admin Shares", "TA0008", "Windows"],
  ["T1570", "Lateral Tool Transfer", "TA0008", "Windows Linux MacOS"],
  ["T1005", "Data from Local System", "TA0009", "Windows Linux MacOS"],
  ["T1560", "Archive Collected Data", "TA0009", "Windows Linux MacOS"],
  ["T1071", "Application Layer Protocol", "TA0011", "Windows Linux MacOS"],
  ["T1071.004", "DNS", "TA0011", "Windows Linux MacOS"],
  ["T1105", "Ingress Tool Transfer", "TA0011", "Windows Linux MacOS"],
  ["T1572", "Protocol Tunneling", "TA0011", "Windows Linux MacOS"],
  ["T1041", "Exfiltration Over C2 Channel", "TA0010", "Windows Linux MacOS"],
  ["T1567", "Exfiltration Over Web Service", "TA0010", "Windows Linux MacOS"],
  ["T1486", "Data Encrypted for Impact", "TA0040", "Windows Linux MacOS"],
  ["T1490", "Inhibit System Recovery", "TA0040", "Windows Linux MacOS"],
  ["T1489", "Service Stop", "TA0040", "Windows Linux MacOS"],
];

/** Names of tags. */
export const TAGS = [
  "red-team",
  "purple-team",
  "ransomware",
  "phishing",
  "insider",
  "cloud",
  "identity",
  "quarterly",
  "regulatory",
  "crown-jewels",
  "critical-infrastructure",
  "web",
  "linux",
  "windows",
  "tabletop",
  "source:openaev agent",
] as const;

/** What scenarios are about. */
export const SCENARIO_SUBJECTS = [
  "Ransomware drill",
  "Phishing wave",
  "Insider data theft",
  "Domain takeover",
  "Supply chain compromise",
  "Cloud credential abuse",
  "Business e-mail compromise",
  "Web shell on the portal",
  "Lateral movement by RDP",
  "Destructive wiper",
  "DNS exfiltration",
  "Kerberoasting sweep",
] as const;

/** Where scenarios play. */
export const SCENARIO_SITES = ["headquarters", "plant north", "data centre", "branch offices", "suppliers"] as const;
/** Categories of scenarios. */
export const CATEGORIES = ["attack-scenario", "global-crisis", "lateral-movement", "data-exfiltration"] as const;
/** Main focuses of scenarios. */
export const FOCUSES = ["incident-response", "endpoint-protection", "crisis-communication", "web-filtering"] as const;
/** Sites, as machines are named after them. */
export const SITES = ["par", "lyo", "ber", "lon", "nyc", "sgp"] as const;
/** Roles of machines. */
export const ROLES = ["web", "app", "db", "dc", "mail", "file", "wks", "jump", "build", "vpn"] as const;
/** Names of teams. */
export const TEAMS = ["Blue team", "Crisis cell", "Help desk", "Network operations", "Legal and press"] as const;

/** Values of findings, by type. */
export const FINDING_VALUES: readonly (readonly [string, readonly string[]])[] = [
  ["cve", ["CVE-2021-44228", "CVE-2020-1472", "CVE-2022-26134", "CVE-2023-34362", "CVE-2024-3400", "CVE-2019-0708"]],
  ["port", ["22", "80", "443", "445", "3389", "5985", "8080", "9200"]],
  ["ipv4", ["10.9.8.7", "10.20.0.12", "10.20.4.5", "192.0.2.17", "198.51.100.23"]],
  ["username", ["svc-backup", "svc-sql", "j.martin", "a.schmidt", "operator"]],
  ["share", ["\\\\file-par-01\\finance", "\\\\file-lon-02\\legal", "\\\\dc-ber-01\\sysvol"]],
  ["kerberoastable_account", ["svc-sql", "svc-report"]],
];
