/** WebSockets of callers: the common settings of all listeners. */

/** Bytes of one message, and bytes that may wait for a slow reader. */
export const MAX_MESSAGE_BYTES = 1_048_576
export const MAX_WAITING_BYTES = 4 * MAX_MESSAGE_BYTES

/** Compression is off: a small frame cannot become a large message. */
export const socketOptions = {
  maxPayloadLength: MAX_MESSAGE_BYTES,
  backpressureLimit: MAX_WAITING_BYTES,
  closeOnBackpressureLimit: true,
  perMessageDeflate: false,
  idleTimeout: 0,
}
