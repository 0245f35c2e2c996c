TEXTS = [
    "the patient has a fever and a cough", "the patient has no fever", "a cough and a cold",
    "the nurse has a cold and a cough", "the doctor sees the patient", "no fever and no cough",
    "a patient and a doctor", "the nurse sees the doctor", "the doctor gives amoxicillin",
    "amoxicillin and paracetamol and a cold", "a nurse and a fever", "paracetamol gives no fever",
]


def shard_of(rank, world):
    size = len(TEXTS) // world
    return TEXTS[rank * size:(rank + 1) * size]
