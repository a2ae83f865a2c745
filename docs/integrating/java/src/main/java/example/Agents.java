package example;

import aev.v1.ScenarioServiceGrpc;
import aev.v1.ScenarioServiceOuterClass.LaunchScenarioRequest;
import aev.v1.ScenarioServiceOuterClass.LaunchScenarioResponse;
import core.v1.AgentServiceGrpc;
import core.v1.AgentServiceGrpc.AgentServiceBlockingStub;
import core.v1.AgentServiceOuterClass.Agent;
import core.v1.AgentServiceOuterClass.CreateAgentRequest;
import core.v1.AgentServiceOuterClass.DeleteAgentRequest;
import core.v1.AgentServiceOuterClass.ListAgentsRequest;
import core.v1.AgentServiceOuterClass.ListAgentsResponse;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.net.URI;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** Lists agents page by page, creates an agent once, shows two refusals, and reads a stream. */
public final class Agents {
  // [connect]
  static ManagedChannel connect(String url) {
    URI uri = URI.create(url); // https: TLS; http: none, only on the same machine
    var builder = ManagedChannelBuilder.forTarget(uri.getAuthority());
    return uri.getScheme().equals("https") ? builder.build() : builder.usePlaintext().build();
  }

  static AgentServiceBlockingStub agents(Channel channel, String key) {
    var headers = new Metadata();
    headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + key);
    return AgentServiceGrpc.newBlockingStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  // [pages]
  static List<Agent> all(AgentServiceBlockingStub stub) {
    var found = new ArrayList<Agent>();
    var request = ListAgentsRequest.newBuilder().setPageSize(2);
    ListAgentsResponse page;
    do {
      page = stub.withDeadlineAfter(10, TimeUnit.SECONDS).listAgents(request.build());
      found.addAll(page.getAgentsList());
      request.setPageToken(page.getNextPageToken());
    } while (page.hasNextPageToken());
    return found;
  }

  // [once]
  static Agent createOnce(AgentServiceBlockingStub stub, String name, String requestId) {
    var request = CreateAgentRequest.newBuilder().setName(name).setRequestId(requestId).build();
    return stub.withDeadlineAfter(10, TimeUnit.SECONDS).createAgent(request).getAgent();
  }

  // [errors]
  static String refusal(AgentServiceBlockingStub stub, ListAgentsRequest request) {
    try {
      stub.withDeadlineAfter(10, TimeUnit.SECONDS).listAgents(request);
      return "OK";
    } catch (StatusRuntimeException error) {
      return error.getStatus().getCode() + " " + error.getStatus().getDescription();
    }
  }

  // [stream]
  static String launch(Channel channel, String key, String scenarioId) {
    var headers = new Metadata();
    headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + key);
    Iterator<LaunchScenarioResponse> events =
        ScenarioServiceGrpc.newBlockingStub(channel)
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
            .withDeadlineAfter(60, TimeUnit.SECONDS)
            .launchScenario(LaunchScenarioRequest.newBuilder().setScenarioId(scenarioId).build());
    return events.next().getEventCase().name().toLowerCase(); // and so on, until hasNext() is false
  }

  // [end]
  public static void main(String[] args) {
    var key = System.getenv("SERVICE_API_KEY");
    var channel = connect(System.getenv("SALLYPORT_GRPC_URL"));
    var stub = agents(channel, key);
    System.out.println("agents " + all(stub).size());
    var requestId = UUID.randomUUID().toString();
    var first = createOnce(stub, "From Java", requestId);
    var again = createOnce(stub, "From Java", requestId);
    System.out.println("created once " + first.getId().equals(again.getId()));
    stub.deleteAgent(DeleteAgentRequest.newBuilder().setAgentId(first.getId()).build());
    System.out.println("refused " + refusal(stub, ListAgentsRequest.newBuilder().setPageSize(1000).build()));
    System.out.println("wrong key " + refusal(agents(channel, "nothing"), ListAgentsRequest.getDefaultInstance()));
    var scenario = System.getenv("SCENARIO_ID"); // launching runs real attacks: only if it names one
    if (scenario != null) System.out.println("stream " + launch(channel, key, scenario));
    channel.shutdownNow();
  }
}
