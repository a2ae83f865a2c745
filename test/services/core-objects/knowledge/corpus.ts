// A fixed corpus of security knowledge, and questions whose answer is one
// passage of it: half in words of the passage, half in other words. Written
// before anything was measured on it, and not changed since.

/** Passages by a name. */
export const PASSAGES: Readonly<Record<string, string>> = {
  phishing:
    "When a user reports a suspicious e-mail, collect the message with its headers, look up every other mailbox that received it, and purge it from all of them before anybody clicks.",
  bec: "A request to change a supplier's bank details is verified by calling a number that was known before, never one that the request gives. Most business e-mail compromise ends at this step.",
  ransomware:
    "On the first sign of encryption, disconnect the machine from the network but leave it powered on: keys may still be in memory. Shut down file shares that the account could write to.",
  backup:
    "Restore tests are run each quarter from the immutable copy. A copy that was never restored does not count as a backup.",
  kerberoast:
    "Service accounts with a principal name are exposed to Kerberoasting: any domain user can ask for their ticket and crack it offline. Use group managed accounts with random passwords of 120 characters.",
  goldenticket:
    "If the krbtgt hash was stolen, reset that account twice with ten hours between, else forged tickets stay valid for as long as the attacker wrote into them.",
  lsass:
    "Reading the memory of lsass.exe yields credentials of everybody who signed in. Credential Guard and the attack surface rule that blocks it stop most tools.",
  pth: "With a stolen NTLM hash an intruder authenticates without the password. Local administrator passwords that differ on each machine (LAPS) keep this from spreading.",
  powershell:
    "Script block logging writes event 4104 with the decoded text of every PowerShell script, also when it arrived as -EncodedCommand. Hunt for downloads and reflection in it.",
  lolbin:
    "Signed binaries of Windows such as certutil, mshta and rundll32 download and run foreign code. Alert when one of them opens a network connection or starts from an Office program.",
  persistence:
    "Scheduled tasks and Run keys are the commonest ways to survive a restart. Compare them with the baseline of the image and look at those that point into a user's profile.",
  wmi: "An event subscription in WMI runs code without a file on disk. Sysmon event 19 to 21 show filters, consumers and bindings as they are made.",
  dns: "Tunnels over DNS show as many long, random names below one domain and as TXT answers of unusual size. Count unique subdomains for each registered domain per hour.",
  beacon:
    "Implants call home at regular intervals with a little jitter. Group connections by destination and look at how evenly the time between them is spread.",
  exfil:
    "A host that sends much more than it receives to a storage provider that nobody else uses is worth a look. Compare the last day with the thirty before it.",
  proxylogon:
    "CVE-2021-26855 lets anybody reach the back end of Exchange as if signed in. Look for POST requests to /ecp/ with a cookie X-BEResource, and for new .aspx files under aspnet_client.",
  log4shell:
    "CVE-2021-44228 is triggered by a JNDI lookup such as jndi:ldap://host/a in braces in any field that is logged. Upgrade to 2.17.1; removing JndiLookup.class from the jar is the stopgap.",
  xz: "CVE-2024-3094 is a backdoor in liblzma of xz 5.6.0 and 5.6.1 that reaches sshd through systemd. Go back to 5.4 and look at hosts that ran a rolling distribution in March 2024.",
  moveit:
    "The gang behind Cl0p used CVE-2023-34362, an SQL injection in MOVEit Transfer, and left a web shell named human2.aspx.",
  citrix:
    "CVE-2023-4966 leaks session tokens of NetScaler appliances. Patching alone is not enough: kill all active sessions, since stolen ones stay valid after it.",
  vpn: "Gateways for remote access are patched within two days and sign-in without a second factor is off. Most intrusions of the last year began at one of them.",
  mfa: "Push prompts that are approved out of fatigue are answered by number matching. Security keys (FIDO2) cannot be phished at all and are required for administrators.",
  legacyauth:
    "IMAP, POP and SMTP with a password bypass conditional access. Block them in the tenant and look at sign-ins whose client is an older one.",
  consent:
    "An application that a user granted Mail.Read keeps its access after the password is changed. Review consented applications and revoke their refresh tokens.",
  token:
    "Cookies stolen by an infostealer let a thief take over a session from elsewhere. Bind tokens to devices, and revoke sessions when the address changes country within minutes.",
  s3: "Buckets are private by default and their policy is checked on every change. A public one is closed automatically and its owner asked afterwards.",
  imds: "A server-side request forgery that reaches 169.254.169.254 yields the keys of the machine's role. Version 2 of the metadata service with a hop limit of 1 closes that.",
  cloudkeys:
    "Access keys that are older than ninety days are deactivated. One found in a public repository is treated as used: rotate it, then read what CloudTrail says it did.",
  cloudtrail:
    "StopLogging and DeleteTrail are called by nobody in daily work; either of them pages the person on duty.",
  kubernetes:
    "A pod that runs privileged or mounts the host's file system owns the node. Admission policy refuses both, and the service account token is not mounted where it is not needed.",
  container:
    "Images are built from a pinned base, scanned before they are pushed, and signed; the cluster runs nothing that is unsigned.",
  dependency:
    "Pin versions with a lock file, install without running scripts, and wait some days before taking a release of a package that few people use.",
  secrets:
    "Passwords in code are found by a scanner before the commit is accepted. What slipped through is rotated, since history keeps it for ever.",
  tlp: "What is marked TLP:AMBER+STRICT stays inside the organisation that received it. TLP:GREEN may go to the community and not to a public page.",
  attribution:
    "Overlap of infrastructure alone does not name an actor. Write how sure you are in words of estimative probability, and what would change your mind.",
  stix: "An indicator is a pattern with a time in which it is valid; an observable is a plain fact. Only the first says that something is bad.",
  apt29:
    "APT29, also called Midnight Blizzard, sprays passwords slowly from residential proxies and then adds credentials to OAuth applications.",
  lazarus:
    "Lazarus approaches developers with offers of work and sends a coding test whose package installs a stealer of cryptocurrency wallets.",
  scattered:
    "Scattered Spider telephones the help desk, says that it is an employee who lost the telephone, and has the second factor enrolled anew. Verify by video and the manager.",
  volt: "Volt Typhoon hides in small office routers and lives off the land in utilities for years without malware. Look for ntdsutil and netsh portproxy.",
  risk: "Risk that is accepted has an owner, a reason and a date at which it is looked at again; without a date it is forgotten rather than accepted.",
  nis2: "Under NIS 2 an early warning of a significant incident goes to the authority within 24 hours, the notification within 72 and the final report within a month.",
  gdpr: "A breach of personal data is notified to the supervisory authority within 72 hours of becoming aware of it, and to the people concerned where the risk to them is high.",
  vendor:
    "Before a contract is signed a supplier shows its certification or answers the questionnaire; those that hold customer data are assessed again every year.",
  access:
    "Managers confirm the rights of their people twice a year. What nobody confirms is taken away, and leavers lose everything on their last day.",
  tabletop:
    "An exercise around a table shows who decides to pull the plug, who talks to the press, and that the telephone list is not only on the encrypted server.",
  detection:
    "A rule goes live with a test that triggers it, an owner, and what to do when it fires. Rules that never fired in a year are simulated or retired.",
  simulation:
    "Run the atomic test for a technique in the lab and see whether prevention, detection and response each worked; the score is for each expectation and not for the whole.",
  forensics:
    "Take the memory first, then the disk, and write down each hand that the evidence passes through with time and hash.",
};

/** A question, and the passage that answers it. */
export type Asked = readonly [question: string, passage: string];

/** In words of the passage. */
export const NATURAL: readonly Asked[] = [
  ["what do I do with a reported suspicious e-mail", "phishing"],
  ["service accounts exposed to Kerberoasting", "kerberoast"],
  ["krbtgt reset", "goldenticket"],
  ["event 4104 PowerShell script", "powershell"],
  ["DNS tunnels long random subdomains", "dns"],
  ["CVE-2021-26855 Exchange", "proxylogon"],
  ["CVE-2024-3094", "xz"],
  ["human2.aspx web shell", "moveit"],
  ["sessions after patching NetScaler CVE-2023-4966", "citrix"],
  ["number matching for push prompts", "mfa"],
  ["revoke consented applications", "consent"],
  ["169.254.169.254 metadata role keys", "imds"],
  ["StopLogging DeleteTrail", "cloudtrail"],
  ["privileged pod host file system", "kubernetes"],
  ["TLP:AMBER+STRICT sharing", "tlp"],
  ["Midnight Blizzard OAuth applications", "apt29"],
  ["ntdsutil netsh portproxy", "volt"],
  ["NIS 2 early warning within 24 hours", "nis2"],
  ["managers confirm rights of their people", "access"],
  ["restore tests from the immutable copy", "backup"],
];

/** In other words. */
export const PARAPHRASED: readonly Asked[] = [
  ["somebody wants us to pay an invoice to a new account, how do I know it is genuine", "bec"],
  ["files are being locked on a computer right now, should I turn it off", "ransomware"],
  ["how do intruders move on with hashes instead of passwords", "pth"],
  ["stealing logins out of a process's memory", "lsass"],
  ["malware using built-in Windows tools to fetch payloads", "lolbin"],
  ["how does malicious software stay after a reboot", "persistence"],
  ["fileless code execution triggered by system events", "wmi"],
  ["detect periodic command and control traffic", "beacon"],
  ["unusual amount of data uploaded to the cloud", "exfil"],
  ["vulnerability in a Java logging library", "log4shell"],
  ["old mail protocols get around our login rules", "legacyauth"],
  ["attacker signed in with a stolen browser session", "token"],
  ["object storage readable by the whole internet", "s3"],
  ["somebody published our credentials on GitHub", "cloudkeys"],
  ["how do we protect against malicious npm packages", "dependency"],
  ["North Korean hackers fake job interviews", "lazarus"],
  ["caller pretends to be staff to get their authentication reset", "scattered"],
  ["how confident can we be about who is behind an attack", "attribution"],
  ["deadline to tell the regulator about leaked customer information", "gdpr"],
  ["checking the security of our contractors", "vendor"],
  ["practise the crisis with management", "tabletop"],
  ["how do I know that an alert rule still works", "detection"],
  ["order in which to collect proof from a compromised computer", "forensics"],
  ["measure whether our defences stop a simulated attack", "simulation"],
];

/**
 * One more for each passage, as analysts ask: some of its words, some of theirs.
 * Written when the weight of words stood, and measured once.
 */
export const MIXED: readonly Asked[] = [
  ["purge a phishing mail from every mailbox", "phishing"],
  ["supplier changed bank account, whom do I call", "bec"],
  ["why leave an encrypted machine powered on", "ransomware"],
  ["how often do we prove that backups can be restored", "backup"],
  ["offline cracking of service tickets in the domain", "kerberoast"],
  ["forged Kerberos tickets after the krbtgt hash leaked", "goldenticket"],
  ["protect credentials in lsass from dumping", "lsass"],
  ["LAPS against pass the hash", "pth"],
  ["see what an EncodedCommand really ran", "powershell"],
  ["certutil or rundll32 started by Word", "lolbin"],
  ["suspicious Run key in a user profile", "persistence"],
  ["Sysmon events for WMI consumers", "wmi"],
  ["TXT answers much larger than normal", "dns"],
  ["jitter in regular outbound connections of an implant", "beacon"],
  ["host uploads far more than it downloads", "exfil"],
  ["new aspx files on the Exchange server", "proxylogon"],
  ["JNDI lookup in a logged field", "log4shell"],
  ["backdoored liblzma reaching sshd", "xz"],
  ["Cl0p SQL injection in file transfer software", "moveit"],
  ["NetScaler patched but intruders still have sessions", "citrix"],
  ["how fast must remote access gateways be patched", "vpn"],
  ["users approve MFA prompts by mistake", "mfa"],
  ["IMAP sign-ins that bypass conditional access", "legacyauth"],
  ["malicious app keeps reading mail after a password reset", "consent"],
  ["infostealer took session cookies", "token"],
  ["what happens when somebody makes a bucket public", "s3"],
  ["SSRF to the cloud metadata service", "imds"],
  ["rotation of old access keys", "cloudkeys"],
  ["somebody turned off CloudTrail logging", "cloudtrail"],
  ["container escape through a privileged pod", "kubernetes"],
  ["unsigned image in the cluster", "container"],
  ["supply chain risk of fresh package releases", "dependency"],
  ["password committed to a git repository", "secrets"],
  ["may I publish a TLP:GREEN report on our website", "tlp"],
  ["shared infrastructure as proof of who the actor is", "attribution"],
  ["difference between an indicator and an observable", "stix"],
  ["password spraying from residential proxies", "apt29"],
  ["coding test that installs a wallet stealer", "lazarus"],
  ["help desk tricked into enrolling a new second factor", "scattered"],
  ["Chinese actor living off the land in utilities", "volt"],
  ["accepted risk without an end date", "risk"],
  ["when is the final incident report due under NIS 2", "nis2"],
  ["72 hours to notify a personal data breach", "gdpr"],
  ["supplier questionnaire before signing", "vendor"],
  ["leavers and recertification of rights", "access"],
  ["who talks to the press during an incident exercise", "tabletop"],
  ["retire detection rules that never fired", "detection"],
  ["atomic test results for prevention and response", "simulation"],
  ["chain of custody for memory and disk images", "forensics"],
];
