// The official Go SDK with tools whose arguments and results stay raw JSON: no inferred schemas, no validation of
// results, no authentication.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tool as the list has it; schemas are sent as they are.
type tool struct {
	Name         string               `json:"name"`
	Title        string               `json:"title"`
	Description  string               `json:"description"`
	InputSchema  json.RawMessage      `json:"inputSchema"`
	OutputSchema json.RawMessage      `json:"outputSchema"`
	Annotations  *mcp.ToolAnnotations `json:"annotations"`
	Meta         mcp.Meta             `json:"_meta"`
}

func read(name string, into any) {
	raw, err := os.ReadFile(filepath.Join(os.Getenv("FIXTURE"), name))
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		panic(err)
	}
}

func main() {
	var tools []tool
	var results map[string]json.RawMessage
	read("tools.json", &tools)
	read("results.json", &results)
	options := &mcp.ServerOptions{SchemaCache: mcp.NewSchemaCache(), PageSize: len(tools) + 1}
	server := mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1.0.0"}, options)
	for _, t := range tools {
		listed := &mcp.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description,
			InputSchema: t.InputSchema, Annotations: t.Annotations, Meta: t.Meta,
		}
		if t.OutputSchema != nil {
			listed.OutputSchema = t.OutputSchema
		}
		result := results[t.Name]
		server.AddTool(listed, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text := &mcp.TextContent{Text: string(result)}
			return &mcp.CallToolResult{Content: []mcp.Content{text}, StructuredContent: result}, nil
		})
	}
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true},
	)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("ready %d\n", listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, handler))
}
