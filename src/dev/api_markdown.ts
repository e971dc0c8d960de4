/** The OpenAPI document as a page for people, one section per slice. */

import type { OpenApiDocument, Operation } from '../http/openapi/document.ts'
import type { JsonSchema } from '../http/openapi/json_schema.ts'
import type { Parameter } from '../http/openapi/parameters.ts'

type Response = {
  description: string
  content?: Record<string, { schema?: JsonSchema; example?: unknown }>
}

export function apiMarkdown({ info, tags, paths }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const sections = tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name))
    return [`## ${name}`, ...own.map(operationText)].join('\n\n')
  })
  const head = `<!-- Written by src/dev/api_docs.ts from the contracts: do not edit. -->\n\n# API\n\n${info.description}\n\nThe same as OpenAPI: \`GET /api/docs/json\`; as a page to try out: \`/api/docs/\`, on the resolver's port for what the resolver serves. The rules behind it: [protocol.md](protocol.md).`
  return `${[head, ...sections].join('\n\n')}\n`
}

function operationText({
  path,
  method,
  operation,
}: {
  path: string
  method: string
  operation: Operation
}): string {
  const on = operation.servers?.map(({ description }) => description).join(', ')
  const parts = [
    `### ${method.toUpperCase()} ${path}`,
    `${operation.summary}. ${operation.description}${on ? ` Served by: ${on}.` : ''}`,
    parametersText(operation.parameters),
    bodyText(operation),
    ...answersText(operation),
  ]
  return parts.filter(Boolean).join('\n\n')
}

function parametersText(parameters: readonly Parameter[]): string {
  return parameters
    .map(({ name, in: place, required, schema, description }) => {
      const rule = [place, required ? 'required' : 'optional', ruleOf(schema), description]
      return `- \`${name}\`: ${rule.filter(Boolean).join('; ')}`
    })
    .join('\n')
}

function bodyText({ requestBody }: Operation): string {
  if (!requestBody) return ''
  const { required, content } = requestBody as { required: boolean; content: Response['content'] }
  if (content?.['*/*']) return 'Body: that of the request, of any kind, at most 10 MiB.'
  const { schema = {}, example } = content?.['application/json'] ?? {}
  const title = required ? 'Body:' : 'Body, optional:'
  return `${title}\n\n${fieldsText(schema)}\n\n${jsonBlock(example)}`
}

function answersText({ responses }: Operation): string[] {
  const all = Object.entries(responses as Record<string, Response>)
  const good = all.filter(([status]) => status.startsWith('2'))
  const bad = all.filter(([status]) => !status.startsWith('2'))
  const [first] = good
  const [mediaType = '', { example = undefined } = {}] =
    Object.entries(first?.[1].content ?? {})[0] ?? []
  return [
    `Answers ${good.map(([status]) => status).join(' or ')}${example === undefined ? `, ${mediaType}.` : ':'}`,
    example === undefined ? '' : jsonBlock(example),
    `Refuses with ${bad.map(([status, { description }]) => `${status} ${codesIn(description)}`).join(' · ')}.`,
  ]
}

/** The codes that the description of a response begins its paragraphs with. */
function codesIn(description: string): string {
  return [...description.matchAll(/^`(\w+)`:/gm)].map(([, code]) => code).join(', ')
}

/** The fields of a body, one line each; alternatives one after the other. */
function fieldsText(schema: JsonSchema): string {
  const branches = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
  if (branches) return branches.map(fieldsText).join('\n\nor\n\n')
  if (schema.type === 'array') return `A list of:\n\n${fieldsText(schema.items as JsonSchema)}`
  const required = (schema.required ?? []) as string[]
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  if (fields.length === 0) return '- no fields'
  return fields
    .map(([name, inner]) => {
      const rule = [required.includes(name) ? 'required' : 'optional', ruleOf(inner)]
      return `- \`${name}\`: ${rule.filter(Boolean).join('; ')}`
    })
    .join('\n')
}

/** Returns a value's rule in a few words. */
function ruleOf(schema: JsonSchema): string {
  const branches = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
  if (branches) return [...new Set(branches.map(ruleOf))].join(' or ')
  const words = [
    typeWords(schema),
    typeof schema.pattern === 'string' && `matches \`${schema.pattern}\``,
    boundsOf(schema),
    schema.default !== undefined && `default \`${JSON.stringify(schema.default)}\``,
    schema.description,
  ]
  return words.filter(Boolean).join(', ')
}

function typeWords({ type, format, enum: values, const: only, items }: JsonSchema): string {
  if (only !== undefined) return `\`${JSON.stringify(only)}\``
  if (Array.isArray(values)) return values.map((value) => `\`${value}\``).join(' ')
  if (type === 'array') return `list of ${ruleOf(items as JsonSchema)}`
  if (format === 'uuid') return 'UUID'
  if (typeof format === 'string') return format
  return Array.isArray(type) ? type.join(' or ') : String(type ?? 'any JSON')
}

function boundsOf(schema: JsonSchema): string {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems } = schema
  const [least, most] = [minLength ?? minimum ?? minItems, maxLength ?? maximum ?? maxItems]
  const unit = (minItems ?? maxItems) ? ' entries' : (minLength ?? maxLength) ? ' characters' : ''
  if (least && most) return `${least} to ${most}${unit}`
  if (most !== undefined) return `at most ${most}${unit}`
  return least ? `at least ${least}${unit}` : ''
}

function jsonBlock(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
}
