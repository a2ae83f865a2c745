import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.spec.McpSchema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** The official Java SDK's stateless servlet on embedded Tomcat, without authentication. */
public class Peer {
  static final McpJsonMapper JSON = McpJsonDefaults.getMapper();

  static <T> T read(String name, TypeRef<T> type) throws Exception {
    return JSON.readValue(Files.readString(Path.of(System.getenv("FIXTURE"), name)), type);
  }

  @SuppressWarnings("unchecked")
  static SyncToolSpecification toolOf(Map<String, Object> listed, Map<String, Object> results) {
    var tool = McpSchema.Tool.builder()
        .name((String) listed.get("name"))
        .description((String) listed.get("description"))
        .inputSchema((Map<String, Object>) listed.get("inputSchema"));
    if (listed.get("title") != null) tool.title((String) listed.get("title"));
    if (listed.get("annotations") != null)
      tool.annotations(JSON.convertValue(listed.get("annotations"), McpSchema.ToolAnnotations.class));
    var result = results.get(listed.get("name"));
    return SyncToolSpecification.builder().tool(tool.build()).callHandler((context, request) -> {
      try {
        return McpSchema.CallToolResult.builder()
            .addTextContent(JSON.writeValueAsString(result)).structuredContent(result).build();
      } catch (Exception e) {
        throw new RuntimeException(e);
      }
    }).build();
  }

  public static void main(String[] args) throws Exception {
    java.util.logging.LogManager.getLogManager().reset();
    var path = System.getenv("MCP_PATH");
    var results = read("results.json", new TypeRef<Map<String, Object>>() {});
    var tools = new ArrayList<SyncToolSpecification>();
    for (var listed : read("tools.json", new TypeRef<List<Map<String, Object>>>() {})) tools.add(toolOf(listed, results));
    var transport = HttpServletStatelessServerTransport.builder().messageEndpoint(path).build();
    McpServer.sync(transport).serverInfo("peer", "1.0.0")
        .capabilities(McpSchema.ServerCapabilities.builder().tools(false).build()).tools(tools).build();
    var tomcat = new Tomcat();
    tomcat.setBaseDir(Files.createTempDirectory("peer").toString());
    var connector = new Connector("HTTP/1.1");
    connector.setProperty("address", "127.0.0.1");
    connector.setProperty("maxKeepAliveRequests", "-1");
    connector.setPort(0);
    tomcat.setConnector(connector);
    var context = tomcat.addContext("", null);
    Tomcat.addServlet(context, "mcp", transport).setAsyncSupported(true);
    context.addServletMappingDecoded(path, "mcp");
    tomcat.start();
    System.out.println("ready " + connector.getLocalPort());
    System.out.flush();
    tomcat.getServer().await();
  }
}
