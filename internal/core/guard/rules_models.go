package guard

// modelRules are the keys of providers of language models.
func modelRules() []Rule {
	return []Rule{
		{
			ID: "anthropic-key", What: "an Anthropic API key", Source: "docs.anthropic.com; gitleaks",
			Pattern: `sk-ant-(?:api|admin|oat|ort|sid)\d{2}-[\w-]{80,}`,
		},
		{
			ID: "openrouter-key", What: "an OpenRouter key", Source: "openrouter.ai, API keys",
			Pattern: `sk-or-v1-[0-9a-f]{64}`,
		},
		{
			ID: "openai-key", What: "an OpenAI API key", Source: "gitleaks; platform.openai.com",
			Keywords: []string{"sk-proj-", "sk-svcacct-", "sk-admin-", "sk-none-", "t3blbkfj", "sk-"},
			Pattern:  `sk-(?:proj|svcacct|admin|None)-[\w-]{40,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|sk-[A-Za-z0-9]{48}|sk-[0-9a-f]{32}`,
		},
		{
			ID: "huggingface-token", What: "a Hugging Face token", Source: "huggingface.co, user access tokens",
			Keywords: []string{"hf_", "api_org_"},
			Pattern:  `(?:hf_|api_org_)[A-Za-z0-9]{34,40}`,
		},
		{
			ID: "replicate-token", What: "a Replicate token", Source: "replicate.com, API tokens",
			Pattern: `r8_[A-Za-z0-9]{37}`,
		},
		{
			ID: "groq-key", What: "a Groq key", Source: "console.groq.com",
			Pattern: `gsk_[A-Za-z0-9]{52}`,
		},
		{
			ID: "xai-key", What: "an xAI key", Source: "docs.x.ai",
			Pattern: `xai-[A-Za-z0-9]{70,90}`,
		},
		{
			ID: "perplexity-key", What: "a Perplexity key", Source: "gitleaks",
			Pattern: `pplx-[A-Za-z0-9]{48}`,
		},
		{
			ID: "cohere-key", What: "a Cohere key", Source: "gitleaks",
			Keywords: []string{"cohere", "co_api_key"},
			Pattern:  `(?i:(?:cohere|co_api_key)[\w.-]{0,20})` + assigned + `["'\x60]?([A-Za-z0-9]{40})`, Start: anywhere, Shape: assignment, Within: textContent,
			Check: func(m match) bool { return entropy(m.secret) >= 4 && !isPlaceholder(m.secret) },
		},
		{
			ID: "langsmith-key", What: "a LangSmith key", Source: "docs.smith.langchain.com",
			Pattern: `lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`,
		},
		{
			ID: "fireworks-key", What: "a Fireworks key", Source: "docs.fireworks.ai",
			Pattern: `fw_[A-Za-z0-9]{22,24}`, Check: func(m match) bool { return classes(m.secret) == 4 && isRandom(m) },
		},
		{
			ID: "nvidia-key", What: "an NVIDIA API key", Source: "docs.nvidia.com, NGC",
			Pattern: `nvapi-[\w-]{60,70}`,
		},
		{
			ID: "elevenlabs-key", What: "an ElevenLabs key", Source: "elevenlabs.io, API reference",
			Pattern: `sk_[0-9a-f]{48}`,
		},
	}
}
