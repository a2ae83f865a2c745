// What the built-in knowledge is made of. Techniques, tactics and the names of
// tools are those of MITRE ATT&CK; groups, reports, victims and every network
// value are invented (RFC 2606 names, RFC 5737 and RFC 3849 addresses).

export const TACTICS = ["reconnaissance", "resource-development", "initial-access", "execution", "persistence", "privilege-escalation", "defense-evasion", "credential-access", "discovery", "lateral-movement", "collection", "command-and-control", "exfiltration", "impact"];

/** Technique id, name and tactic. */
export const TECHNIQUES: readonly (readonly [id: string, name: string, tactic: string])[] = [
  ["T1595", "Active Scanning", "reconnaissance"], ["T1589", "Gather Victim Identity Information", "reconnaissance"], ["T1583", "Acquire Infrastructure", "resource-development"], ["T1587", "Develop Capabilities", "resource-development"],
  ["T1566", "Phishing", "initial-access"], ["T1566.001", "Spearphishing Attachment", "initial-access"], ["T1566.002", "Spearphishing Link", "initial-access"], ["T1190", "Exploit Public-Facing Application", "initial-access"], ["T1133", "External Remote Services", "initial-access"], ["T1195", "Supply Chain Compromise", "initial-access"], ["T1078", "Valid Accounts", "initial-access"],
  ["T1059", "Command and Scripting Interpreter", "execution"], ["T1059.001", "PowerShell", "execution"], ["T1059.003", "Windows Command Shell", "execution"], ["T1204", "User Execution", "execution"], ["T1047", "Windows Management Instrumentation", "execution"], ["T1053", "Scheduled Task/Job", "execution"], ["T1203", "Exploitation for Client Execution", "execution"],
  ["T1547", "Boot or Logon Autostart Execution", "persistence"], ["T1543", "Create or Modify System Process", "persistence"], ["T1505", "Server Software Component", "persistence"], ["T1505.003", "Web Shell", "persistence"], ["T1136", "Create Account", "persistence"],
  ["T1055", "Process Injection", "privilege-escalation"], ["T1068", "Exploitation for Privilege Escalation", "privilege-escalation"], ["T1134", "Access Token Manipulation", "privilege-escalation"],
  ["T1027", "Obfuscated Files or Information", "defense-evasion"], ["T1036", "Masquerading", "defense-evasion"], ["T1070", "Indicator Removal", "defense-evasion"], ["T1140", "Deobfuscate/Decode Files or Information", "defense-evasion"], ["T1218", "System Binary Proxy Execution", "defense-evasion"], ["T1562", "Impair Defenses", "defense-evasion"],
  ["T1003", "OS Credential Dumping", "credential-access"], ["T1003.001", "LSASS Memory", "credential-access"], ["T1110", "Brute Force", "credential-access"], ["T1555", "Credentials from Password Stores", "credential-access"], ["T1558", "Steal or Forge Kerberos Tickets", "credential-access"],
  ["T1082", "System Information Discovery", "discovery"], ["T1083", "File and Directory Discovery", "discovery"], ["T1018", "Remote System Discovery", "discovery"], ["T1057", "Process Discovery", "discovery"], ["T1016", "System Network Configuration Discovery", "discovery"],
  ["T1021", "Remote Services", "lateral-movement"], ["T1021.001", "Remote Desktop Protocol", "lateral-movement"], ["T1570", "Lateral Tool Transfer", "lateral-movement"], ["T1550", "Use Alternate Authentication Material", "lateral-movement"],
  ["T1005", "Data from Local System", "collection"], ["T1114", "Email Collection", "collection"], ["T1560", "Archive Collected Data", "collection"], ["T1113", "Screen Capture", "collection"],
  ["T1071", "Application Layer Protocol", "command-and-control"], ["T1071.001", "Web Protocols", "command-and-control"], ["T1105", "Ingress Tool Transfer", "command-and-control"], ["T1573", "Encrypted Channel", "command-and-control"], ["T1090", "Proxy", "command-and-control"], ["T1572", "Protocol Tunneling", "command-and-control"],
  ["T1041", "Exfiltration Over C2 Channel", "exfiltration"], ["T1567", "Exfiltration Over Web Service", "exfiltration"], ["T1048", "Exfiltration Over Alternative Protocol", "exfiltration"],
  ["T1486", "Data Encrypted for Impact", "impact"], ["T1490", "Inhibit System Recovery", "impact"], ["T1489", "Service Stop", "impact"], ["T1485", "Data Destruction", "impact"], ["T1498", "Network Denial of Service", "impact"],
];

export const TOOLS = ["Mimikatz", "PsExec", "Cobalt Strike", "Impacket", "BloodHound", "Rclone", "ngrok", "Sliver", "AnyDesk", "Nmap", "LaZagne", "certutil", "Empire", "Havoc", "Chisel", "AdFind"];

export const ADJECTIVES = ["Amber", "Brittle", "Cobalt", "Crimson", "Distant", "Ember", "Frozen", "Gilded", "Hollow", "Iron", "Jade", "Lunar", "Marble", "Northern", "Obsidian", "Pale", "Quiet", "Rusted", "Silent", "Umber", "Velvet", "Winter"];
export const ANIMALS = ["Badger", "Crane", "Dormouse", "Falcon", "Gecko", "Heron", "Ibex", "Jackal", "Kestrel", "Lynx", "Marten", "Newt", "Osprey", "Puffin", "Raven", "Stoat", "Tapir", "Viper", "Wolverine"];
export const MALWARE_ROOTS = ["Ash", "Bone", "Cinder", "Drift", "Echo", "Fern", "Grim", "Husk", "Ink", "Jolt", "Knot", "Lark", "Mist", "Null", "Oak", "Pike", "Quill", "Rook", "Salt", "Thorn"];
export const MALWARE_ENDINGS = ["Loader", "Locker", "RAT", "Stealer", "Wiper", "Door", "Bot", "Shell"];

export const SECTORS = ["Energy", "Finance", "Healthcare", "Government", "Telecommunications", "Transport", "Education", "Defense", "Manufacturing", "Retail", "Media", "Technology", "Water", "Food and agriculture", "Space"];
export const REGIONS = ["Northern Europe", "Western Europe", "Eastern Europe", "North America", "Latin America", "Middle East", "Eastern Asia", "South-East Asia", "Oceania"];
export const COUNTRIES = ["Argentina", "Australia", "Belgium", "Brazil", "Canada", "Chile", "Denmark", "Estonia", "Finland", "France", "Germany", "Greece", "Iceland", "India", "Ireland", "Italy", "Japan", "Kenya", "Latvia", "Luxembourg", "Malta", "Mexico", "Netherlands", "New Zealand", "Norway", "Peru", "Poland", "Portugal", "Singapore", "Slovenia", "South Korea", "Spain", "Sweden", "Switzerland", "United Kingdom", "United States"];
export const CITIES = ["Antwerp", "Bergen", "Boston", "Gdansk", "Ghent", "Lille", "Lyon", "Malmo", "Osaka", "Porto", "Seville", "Tartu", "Turin", "Utrecht", "Zurich"];
export const VENDORS = ["Lighthouse Labs", "Harbour Security", "Northwind Research", "Copperleaf Intelligence", "Blue Quarry", "Sextant Threat Team", "Granite Response", "Tidewater CERT", "Meridian Analytics", "Foxglove Security", "Ironbark", "Stillwater Research"];
export const LABELS = ["apt", "phishing", "ransomware", "osint", "botnet", "c2", "espionage", "supply-chain", "energy", "finance", "healthcare", "credential-theft", "zero-day", "wiper", "loader", "hunting", "confirmed", "to-review", "malicious-activity", "anonymization"];
export const THEMES = ["spearphishing against", "ransomware in", "credential theft from", "intrusions into", "new infrastructure used against", "exploitation of edge devices in", "a supply-chain compromise reaching", "long-running espionage in"];
