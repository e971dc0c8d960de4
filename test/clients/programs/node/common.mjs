/** What programs of Node.js share: the first argument says what to do, an error is shown as its library has it. */
export const { API_URL, API_KEY, FILE } = process.env
export const headers = { authorization: `Bearer ${API_KEY}` }

export async function main(actions) {
  try {
    await actions[process.argv[2]]()
  } catch (error) {
    const { status, statusCode, body, response } = error
    console.error(
      status ?? statusCode ?? '',
      error.message,
      body ?? response?.data ?? response?.body ?? '',
    )
    console.error(error.cause ?? '')
    process.exit(1)
  }
}

/** Where an error status is an answer like others. */
export function checked(status, text) {
  if (status >= 400) throw new Error(`${status}: ${text}`)
  return text
}

/** Prints each piece as it arrives. */
export async function show(stream) {
  const decoder = new TextDecoder()
  for await (const piece of stream) process.stdout.write(decoder.decode(piece, { stream: true }))
}
