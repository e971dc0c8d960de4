/** Sessions as data (protocol 5.1), with their tokens in answers or in the cookies of the console. */
import { z } from 'zod'
import { email, pagination } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { exampleBytes, exampleOfForm, sessionId, text } from '../../http/fields.ts'
import { workspaceShape } from '../workspaces/contract.ts'
import { givenPassword, kdf, ofPerson, refreshToken, session, sessionPair, user } from './shapes.ts'

export const login = defineEndpoint({
  name: 'auth.login',
  summary: 'Sign in',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/login/',
  quotas: ['sessions'],
  access: { kind: 'public', rate: 'login' },
  body: z.strictObject({ email, password: givenPassword }).meta({ id: 'Login' }),
  result: z.object({
    ...sessionPair,
    key_salt: text(exampleBytes(16)),
    kdf,
    encrypted_private_key: text(exampleOfForm.wrappedKey),
    user,
    workspaces: z.array(workspaceShape),
  }),
  faults: ['invalid_credentials'],
})

export const consoleLogin = defineEndpoint({
  ...login,
  name: 'auth.console.login',
  summary: 'Sign in to the console, with HttpOnly cookies',
  path: '/api/auth/console/login/',
  access: { kind: 'public', rate: 'login', console: true },
  result: login.result.omit({ access: true, refresh: true }),
  faults: ['forbidden', 'invalid_credentials'],
})

export const refresh = defineEndpoint({
  name: 'auth.refresh',
  summary: 'Exchange a refresh token for new tokens; reusing an old one ends the session',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/refresh/',
  access: { kind: 'public', rate: 'login' },
  body: z.strictObject({ refresh: refreshToken }),
  result: z.object(sessionPair).meta({ id: 'SessionTokens' }),
  faults: ['invalid_token', 'conflict'],
})

export const consoleRefresh = defineEndpoint({
  name: 'auth.console.refresh',
  summary: 'Refresh the tokens in the cookies',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/console/refresh/',
  access: { kind: 'public', rate: 'login', console: true },
  result: z.object({ expires_at: sessionPair.expires_at }),
  faults: ['forbidden', 'invalid_token', 'conflict'],
})

export const logout = defineEndpoint({
  name: 'auth.logout',
  summary: 'End this session and the session of the refresh token',
  method: 'POST',
  ...ofPerson,
  path: '/api/auth/logout/',
  access: { kind: 'session' },
  body: z.strictObject({ refresh_token: refreshToken.optional() }),
  bodyOptional: true,
})

export const listSessions = defineEndpoint({
  name: 'auth.sessions.list',
  summary: "List the caller's sessions, newest first",
  method: 'GET',
  path: '/api/auth/sessions/',
  access: { kind: 'session' },
  query: pagination,
  result: z.array(session),
  paged: true,
})

export const revokeSession = defineEndpoint({
  name: 'auth.sessions.revoke',
  summary: "End one of the caller's sessions",
  method: 'DELETE',
  ...ofPerson,
  path: '/api/auth/sessions/{session_id}/',
  access: { kind: 'session' },
  params: z.object({ session_id: sessionId }),
})
