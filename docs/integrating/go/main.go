// Lists agents page by page, creates an agent once, shows two refusals, and reads a stream.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	aev "example.org/agents/gen/aev/v1"
	core "example.org/agents/gen/core/v1"
)

// [connect]
func connect(address string) (*grpc.ClientConn, error) {
	parts, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	secured := insecure.NewCredentials() // no TLS: only on the same machine
	if parts.Scheme == "https" {
		secured = credentials.NewTLS(nil)
	}
	return grpc.NewClient(parts.Host, grpc.WithTransportCredentials(secured))
}

func as(key string, limit time.Duration) (context.Context, context.CancelFunc) {
	signedIn := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+key)
	return context.WithTimeout(signedIn, limit)
}

// [pages]
func all(agents core.AgentServiceClient, key string) ([]*core.Agent, error) {
	var found []*core.Agent
	size := int32(2)
	request := &core.ListAgentsRequest{PageSize: &size}
	for {
		ctx, cancel := as(key, 10*time.Second)
		page, err := agents.ListAgents(ctx, request)
		cancel()
		if err != nil {
			return nil, err
		}
		found = append(found, page.Agents...)
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return found, nil
		}
	}
}

// [once]
func createOnce(agents core.AgentServiceClient, key, name, requestID string) (string, error) {
	ctx, cancel := as(key, 10*time.Second)
	defer cancel()
	made, err := agents.CreateAgent(ctx, &core.CreateAgentRequest{Name: name, RequestId: requestID})
	return made.GetAgent().GetId(), err
}

// [errors]
func refusal(agents core.AgentServiceClient, key string, request *core.ListAgentsRequest) string {
	ctx, cancel := as(key, 10*time.Second)
	defer cancel()
	_, err := agents.ListAgents(ctx, request)
	if status.Code(err) == codes.OK {
		return "OK"
	}
	return nameOf(status.Code(err)) + " " + status.Convert(err).Message()
}

// [stream]
func launch(connection *grpc.ClientConn, key, scenarioID string) (string, error) {
	ctx, cancel := as(key, time.Minute)
	defer cancel() // ends the stream, whether it was read to its end or not
	events, err := aev.NewScenarioServiceClient(connection).LaunchScenario(ctx, &aev.LaunchScenarioRequest{ScenarioId: scenarioID})
	if err != nil {
		return "", err
	}
	event, err := events.Recv() // and so on, until io.EOF
	if event.GetProgress() != nil {
		return "progress", err
	}
	return "result", err
}

// [end]
func main() {
	key := os.Getenv("SERVICE_API_KEY")
	connection, err := connect(os.Getenv("SALLYPORT_GRPC_URL"))
	must(err)
	defer connection.Close()
	agents := core.NewAgentServiceClient(connection)

	found, err := all(agents, key)
	must(err)
	fmt.Println("agents", len(found))

	requestID := rand.Text()
	first, err := createOnce(agents, key, "From Go", requestID)
	must(err)
	again, err := createOnce(agents, key, "From Go", requestID)
	must(err)
	fmt.Println("created once", first == again)
	ctx, cancel := as(key, 10*time.Second)
	defer cancel()
	_, err = agents.DeleteAgent(ctx, &core.DeleteAgentRequest{AgentId: first})
	must(err)

	tooMany := int32(1000)
	fmt.Println("refused", refusal(agents, key, &core.ListAgentsRequest{PageSize: &tooMany}))
	fmt.Println("wrong key", refusal(agents, "nothing", &core.ListAgentsRequest{}))
	// Launching runs real attacks: only if SCENARIO_ID names a scenario.
	if scenario := os.Getenv("SCENARIO_ID"); scenario != "" {
		event, err := launch(connection, key, scenario)
		must(err)
		fmt.Println("stream", event)
	}
}

// nameOf writes a code as gRPC's own documents do: InvalidArgument is INVALID_ARGUMENT.
func nameOf(code codes.Code) string {
	var name strings.Builder
	for i, letter := range code.String() {
		if i > 0 && letter >= 'A' && letter <= 'Z' {
			name.WriteByte('_')
		}
		name.WriteRune(letter)
	}
	return strings.ToUpper(name.String())
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
