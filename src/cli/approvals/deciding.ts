/** Allowing a request: a person sees all of it, is asked, and signs. */
import { type ReleaseWindow, releaseRequest } from '../../client/approvals/release.ts'
import { readVerifiedRequest, type VerifiedRequest } from '../../client/approvals/verify.ts'
import type { Context } from '../context.ts'
import { placeOf, projectNames, type WorkspaceScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'
import { requestLines } from './shown_request.ts'
import { windowWarning } from './window.ts'

/** Lines of a request that fit a screen, standard output unless given. */
export async function screenLines(
  context: Context,
  scope: WorkspaceScope,
  request: VerifiedRequest,
  { columns: width } = context.host.streams.stdout,
): Promise<string[]> {
  const projects = await projectNames(scope)
  return requestLines(request, { projects, now: nowOf(context), width })
}

/** Shows a request on standard error, because the question about it is there. */
export async function showRequest(
  context: Context,
  scope: WorkspaceScope,
  request: VerifiedRequest,
  window: ReleaseWindow | null = null,
): Promise<void> {
  const lines = await screenLines(context, scope, request, context.host.streams.stderr)
  context.output.warn(...lines, ...(window ? windowWarning(window) : []))
}

export async function allowRequest(
  context: Context,
  scope: WorkspaceScope,
  request: VerifiedRequest,
  window: ReleaseWindow | null,
): Promise<void> {
  const { id } = request.approval
  const { expiresAt } = await releaseRequest(placeOf(scope), request, window)
  const next = window
    ? `Allowed until ${expiresAt}. Revoke it with: cloakroom approvals revoke ${id}`
    : 'Allowed once. A waiting call continues; otherwise the next identical call goes through.'
  context.output.done(next, { id, expires_at: expiresAt, scope: window && scopeOf(window) }, id)
}

function scopeOf({ host, methods, path_prefix }: ReleaseWindow) {
  return { host, methods, path_prefix }
}

export function readRequest(scope: WorkspaceScope, id: string): Promise<VerifiedRequest> {
  return readVerifiedRequest(placeOf(scope), id)
}

export function nowOf({ host }: Context): Date {
  return new Date(host.now?.() ?? Date.now())
}

/** A program does not decide: an agent could run the command, too. */
export function personRequired(): CliError {
  const message = 'Run this in a terminal, where the whole call is shown.'
  return new CliError('terminal_required', message)
}
