/**
 * A token's capabilities (protocol 4): use credentials (calls, and the names and domains for them), or read them
 * (delivery).
 */
export const capabilities = ['use', 'read'] as const
export type Capability = (typeof capabilities)[number]
