package main

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// The four protocols that the model speaks, as far as the agents' programs read them.

// listen goes through the messages of a conversation: said is the user's text in one, and acted
// whether it is something that the model did.
func listen(messages gjson.Result, said func(m gjson.Result) string, acted func(m gjson.Result) bool) (q question) {
	for _, m := range messages.Array() {
		if text := wordsOf(said(m)); text != "" {
			q.prompt, q.steps = text, 0
		} else if acted(m) {
			q.steps++
		}
	}
	return q
}

func toolsOf(list gjson.Result, at string) map[string]gjson.Result {
	tools := map[string]gjson.Result{}
	for _, tool := range list.Array() {
		if name := tool.Get(at + "name"); name.Exists() {
			tools[name.String()] = tool
		}
	}
	return tools
}

func hasRole(role string) func(gjson.Result) bool {
	return func(m gjson.Result) bool { return m.Get("role").String() == role }
}

func saidBy(role, content string) func(gjson.Result) string {
	return func(m gjson.Result) string {
		if m.Get("role").String() != role {
			return ""
		}
		return textOf(m.Get(content))
	}
}

// Anthropic's messages.

func hearMessages(body gjson.Result) question {
	q := listen(body.Get("messages"), saidBy("user", "content"), hasRole("assistant"))
	q.tools = toolsOf(body.Get("tools"), "")
	return q
}

func sayMessages(id, text string, use *modelCall) (string, []string) {
	block, empty, stop := object("type", "text", "text", text), object("type", "text", "text", ""), "end_turn"
	delta := object("type", "text_delta", "text", text)
	if use != nil {
		stop = "tool_use"
		block = object("type", "tool_use", "id", "toolu_"+id, "name", use.name, "input", use.args)
		empty = object("type", "tool_use", "id", "toolu_"+id, "name", use.name, "input", struct{}{})
		args, _ := json.Marshal(use.args)
		delta = object("type", "input_json_delta", "partial_json", string(args))
	}
	usage := object("input_tokens", 100, "output_tokens", 20, "cache_creation_input_tokens", 0, "cache_read_input_tokens", 0)
	message := func(content []json.RawMessage, stop any) json.RawMessage {
		return object("id", "msg_"+id, "type", "message", "role", "assistant", "model", "scripted", "content", content, "stop_reason", stop, "stop_sequence", nil, "usage", usage)
	}
	return string(message([]json.RawMessage{block}, stop)), texts(
		object("type", "message_start", "message", message([]json.RawMessage{}, nil)),
		object("type", "content_block_start", "index", 0, "content_block", empty),
		object("type", "content_block_delta", "index", 0, "delta", delta),
		object("type", "content_block_stop", "index", 0),
		object("type", "message_delta", "delta", object("stop_reason", stop, "stop_sequence", nil), "usage", usage),
		object("type", "message_stop"))
}

func texts(events ...json.RawMessage) (lines []string) {
	for _, e := range events {
		lines = append(lines, string(e))
	}
	return lines
}

// OpenAI's chat completions.

func hearChat(body gjson.Result) question {
	q := listen(body.Get("messages"), saidBy("user", "content"), hasRole("assistant"))
	q.tools = toolsOf(body.Get("tools"), "function.")
	return q
}

func sayChat(id, text string, use *modelCall) (string, []string) {
	message, stop := object("role", "assistant", "content", text), "stop"
	if use != nil {
		stop = "tool_calls"
		args, _ := json.Marshal(use.args)
		message = object("role", "assistant", "content", nil, "tool_calls", []json.RawMessage{
			object("index", 0, "id", "call_"+id, "type", "function", "function", object("name", use.name, "arguments", string(args))),
		})
	}
	usage := object("prompt_tokens", 100, "completion_tokens", 20, "total_tokens", 120)
	chunk := func(choices []json.RawMessage, usage any) json.RawMessage {
		return object("id", "chatcmpl-"+id, "created", 1, "model", "scripted", "object", "chat.completion.chunk", "choices", choices, "usage", usage)
	}
	whole := object("id", "chatcmpl-"+id, "created", 1, "model", "scripted", "object", "chat.completion", "usage", usage,
		"choices", []json.RawMessage{object("index", 0, "message", message, "finish_reason", stop)})
	return string(whole), append(texts(
		chunk([]json.RawMessage{object("index", 0, "delta", message, "finish_reason", nil)}, nil),
		chunk([]json.RawMessage{object("index", 0, "delta", struct{}{}, "finish_reason", stop)}, nil),
		chunk([]json.RawMessage{}, usage)), "[DONE]")
}

// OpenAI's responses.

func hearResponses(body gjson.Result) question {
	said := func(m gjson.Result) string {
		text := saidBy("user", "content")(m)
		if strings.HasPrefix(text, "# AGENTS.md") || strings.HasPrefix(text, "<") { // Codex's own, in the user's name
			return ""
		}
		return text
	}
	q := listen(body.Get("input"), said, func(m gjson.Result) bool {
		kind := m.Get("type").String()
		return kind == "function_call" || kind == "custom_tool_call" || m.Get("role").String() == "assistant"
	})
	q.tools = toolsOf(body.Get("tools"), "")
	return q
}

func sayResponses(id, text string, use *modelCall) (string, []string) {
	item := object("type", "message", "id", "msg_"+id, "role", "assistant", "status", "completed",
		"content", []json.RawMessage{object("type", "output_text", "text", text, "annotations", []string{})})
	if use != nil && use.free != "" {
		item = object("type", "custom_tool_call", "id", "ctc_"+id, "call_id", "call_"+id, "name", use.name, "input", use.free, "status", "completed")
	} else if use != nil {
		args, _ := json.Marshal(use.args)
		item = object("type", "function_call", "id", "fc_"+id, "call_id", "call_"+id, "name", use.name, "arguments", string(args), "status", "completed")
	}
	usage := object("input_tokens", 100, "input_tokens_details", object("cached_tokens", 0), "output_tokens", 20,
		"output_tokens_details", object("reasoning_tokens", 0), "total_tokens", 120)
	response := func(status string, output []json.RawMessage, usage any) json.RawMessage {
		return object("id", "resp_"+id, "object", "response", "created_at", 1, "status", status, "model", "scripted", "output", output, "usage", usage)
	}
	done := response("completed", []json.RawMessage{item}, usage)
	return string(done), texts(
		object("type", "response.created", "sequence_number", 0, "response", response("in_progress", []json.RawMessage{}, nil)),
		object("type", "response.output_item.added", "sequence_number", 1, "output_index", 0, "item", item),
		object("type", "response.output_item.done", "sequence_number", 2, "output_index", 0, "item", item),
		object("type", "response.completed", "sequence_number", 3, "response", done))
}

// Google's generateContent.

func hearGemini(body gjson.Result) question {
	said := func(m gjson.Result) string {
		if m.Get("role").String() == "model" || m.Get("parts.#.functionResponse|#").Int() > 0 {
			return ""
		}
		return textOf(m.Get("parts"))
	}
	q := listen(body.Get("contents"), said, hasRole("model"))
	q.tools = map[string]gjson.Result{}
	for _, list := range body.Get("tools.#.functionDeclarations").Array() {
		for name, tool := range toolsOf(list, "") {
			q.tools[name] = tool
		}
	}
	return q
}

func sayGemini(id, text string, use *modelCall) (string, []string) {
	part := object("text", text)
	if use != nil {
		part = object("functionCall", object("name", use.name, "args", use.args))
	}
	answer := string(object("candidates", []json.RawMessage{
		object("content", object("role", "model", "parts", []json.RawMessage{part}), "finishReason", "STOP", "index", 0),
	}, "usageMetadata", object("promptTokenCount", 100, "candidatesTokenCount", 20, "totalTokenCount", 120), "modelVersion", "scripted", "responseId", "r"+id))
	return answer, []string{answer}
}
