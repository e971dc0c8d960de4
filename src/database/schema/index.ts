/** The one schema, for both databases. */
export * from './accounts.ts'
export * from './agents.ts'
export * from './audit.ts'
export * from './derived.ts'
export * from './instance.ts'
export * from './signed.ts'
export * from './workspaces.ts'
