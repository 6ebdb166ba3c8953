const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A ULID: 48 bits of time, 80 random bits. The server takes the same one only once. */
export function ulid() {
  let time = Date.now();
  let head = "";
  for (let i = 0; i < 10; i++, time = Math.floor(time / 32)) head = ALPHABET[time % 32] + head;
  return head + [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => ALPHABET[byte % 32]).join("");
}
