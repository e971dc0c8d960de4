/** Describes a request's problems field by field, and never quotes submitted text. */
import type { z } from 'zod'
import type { FieldFault } from '../fault.ts'

export type Issue = z.core.$ZodIssue

/** The most that a response lists. The search stops there. */
export const MAX_COMPLAINTS = 100

export function fieldFaults(issues: readonly Issue[]): FieldFault[] {
  return issues.flatMap((issue) => describe(issue)).slice(0, MAX_COMPLAINTS)
}

function describe(issue: Issue): FieldFault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: pathOf([...issue.path, key]),
      message: 'is not a field of this request',
    }))
  }
  if (issue.code === 'invalid_union' && !hasOwnWords(issue))
    return fieldFaults(closest(issue).map((inner) => prefixIssue(inner, issue.path)))
  return [{ path: pathOf(issue.path), message: complaintOf(issue) }]
}

/**
 * Returns the complaints of a union's closest branch: it accepts a value of that kind, got furthest, and has most of
 * the fields.
 */
function closest(issue: z.core.$ZodIssueInvalidUnion): Issue[] {
  const isOtherKind = (branch: Issue[]) =>
    Number(branch.some(({ code, path }) => code === 'invalid_type' && path.length === 0))
  const depth = (branch: Issue[]) =>
    branch.reduce((deepest, { path }) => Math.max(deepest, path.length), 0)
  const countForeign = (branch: Issue[]) =>
    branch.reduce((sum, it) => sum + (it.code === 'unrecognized_keys' ? it.keys.length : 0), 0)
  const [first = [], ...others] = [...issue.errors].sort(
    (a, b) =>
      isOtherKind(a) - isOtherKind(b) || depth(b) - depth(a) || countForeign(a) - countForeign(b),
  )
  return first.length > 0 ? first : (others[0] ?? [toUnknownKindIssue(issue)])
}

/** No branch matches the discriminating field. The path of the union, which the caller adds, ends in that field. */
function toUnknownKindIssue(issue: z.core.$ZodIssueInvalidUnion): Issue {
  const kinds = 'options' in issue && Array.isArray(issue.options) ? issue.options : []
  const message = kinds.length > 0 ? `must be one of ${kinds.join(', ')}` : 'is not valid'
  return { code: 'custom', path: [], message, input: issue.input }
}

export function prefixIssue(issue: Issue, path: PropertyKey[]): Issue {
  return { ...issue, path: [...path, ...issue.path] }
}

/** Formats a path. Keys come from the caller: bounded, and without control characters for a terminal. */
export function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) =>
      String(part)
        .replace(/[^\x20-\x7e]/g, '?')
        .slice(0, 128),
    )
    .join('.')
}

function complaintOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be of type ${issue.expected}`
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `must ${measure(issue.origin)} at least ${issue.minimum}`
    case 'too_big':
      return `must ${measure(issue.origin)} at most ${issue.maximum}`
    case 'invalid_format':
      return formatComplaint(issue)
    case 'invalid_key':
      return 'has a name that is not allowed'
    case 'custom':
    case 'invalid_union':
      return issue.message
    default:
      return 'is not valid'
  }
}

/** Returns a pattern's text in the contract, if it has one: few people read expressions. */
function formatComplaint({
  format,
  pattern,
  message,
}: z.core.$ZodIssueInvalidStringFormat): string {
  if (format !== 'regex') return `must be a valid ${format}`
  return hasOwnWords({ message }) ? message : `must match ${pattern}`
}

/** Formats of the contract, not of zod. */
function hasOwnWords({ message }: { message: string }): boolean {
  return message.startsWith('must ')
}

function measure(origin: string): string {
  if (origin === 'string') return 'have a length of'
  return origin === 'array' || origin === 'record' ? 'have a number of entries of' : 'be'
}

export function describeMinimumEntries(limit: number): string {
  return `must ${measure('array')} at least ${limit}`
}

export function describeMaximumEntries(limit: number): string {
  return `must ${measure('array')} at most ${limit}`
}
