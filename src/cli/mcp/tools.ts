/**
 * Lists the tools of `cloakroom mcp` and runs them. Each result is sent once, as text, and has a bound: clients
 * give a model either the text or the structured content, so a copy costs twice and half an answer misleads.
 * An error has a sentence as its text and its code as structured content. Advice for people is a separate part.
 */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  type Tool as ListedTool,
  ListToolsRequestSchema,
  type ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { CliError } from '../terminal/cli_error.ts'
import { errorData, explain, sentences } from '../terminal/explain.ts'
import { boundJson, boundText } from './bounded.ts'

/** Bytes of a result as it is written. */
export const RESULT_BYTES = 60_000
/** Bytes that a result needs beside its text. */
const FRAME_BYTES = 200
/** Bytes of an error's text, and of its data. */
const ERROR_BYTES = 4000

export type Tool = {
  listed: ListedTool
  run(args: unknown, signal: AbortSignal): Promise<Record<string, unknown>>
}

type Definition<I extends z.ZodObject> = {
  name: string
  title: string
  description: string
  input: I
  annotations: ToolAnnotations
  run(input: z.output<I>, signal: AbortSignal): Promise<Record<string, unknown>>
}

export function defineTool<I extends z.ZodObject>(definition: Definition<I>): Tool {
  const { name, title, description, input, annotations, run } = definition
  return {
    listed: { name, title, description, inputSchema: schemaOf(input), annotations },
    run: (args, signal) => run(parseArguments(name, input, args), signal),
  }
}

/** Instructions for a model by error code. A model cannot run commands for people. */
export type ModelAdvice = Readonly<Record<string, string>>

export function serveTools(server: Server, tools: readonly Tool[], advice: ModelAdvice): void {
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ listed }) => listed),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    try {
      const tool = tools.find(({ listed }) => listed.name === params.name)
      if (!tool) throw buildUnknownToolError(params.name, tools)
      const data = await tool.run(params.arguments ?? {}, signal)
      return resultOf(boundJson(data, RESULT_BYTES - FRAME_BYTES))
    } catch (error) {
      return failureOf(error, advice)
    }
  })
}

/** Clients that pass schemas on to a model's API refuse `propertyNames`, which zod writes for records. */
function schemaOf(input: z.ZodObject): ListedTool['inputSchema'] {
  const schema = z.toJSONSchema(input, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      delete jsonSchema.propertyNames
    },
  })
  return { ...schema, type: 'object' } as ListedTool['inputSchema']
}

/** @throws CliError */
function parseArguments<I extends z.ZodObject>(name: string, input: I, args: unknown): z.output<I> {
  const parsed = input.safeParse(args)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  )
  const known = Object.keys(input.shape).join(', ') || 'no arguments'
  throw new CliError('usage', [`${name} was not run.`, ...faults, `Arguments: ${known}.`])
}

function buildUnknownToolError(name: string, tools: readonly Tool[]): CliError {
  const known = tools.map(({ listed }) => listed.name).join(', ')
  return new CliError('not_found', [`Unknown tool: ${name}.`, `Use one of: ${known}.`])
}

function resultOf(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] }
}

/** The command line's hint and fix are for people. They are returned separately, as `for_people`. */
function failureOf(error: unknown, advice: ModelAdvice): CallToolResult {
  const explanation = explain(error)
  const { hint: people, fix, code } = explanation
  const toModel = { ...explanation, hint: advice[code] ?? null, fix: null }
  const text = boundText(sentences(toModel).join('\n'), ERROR_BYTES)
  const forPeople = people === null ? {} : { for_people: { hint: people, ...(fix ? { fix } : {}) } }
  const data = boundJson({ ...errorData(toModel), ...forPeople }, ERROR_BYTES)
  return {
    content: [{ type: 'text', text }, ...(people === null ? [] : [partForPeople(people)])],
    structuredContent: { error: JSON.parse(data) },
    isError: true,
  }
}

function partForPeople(hint: string): CallToolResult['content'][number] {
  const text = boundText(`For the user, not for you: ${hint}`, ERROR_BYTES)
  return { type: 'text', text, annotations: { audience: ['user'] } }
}
