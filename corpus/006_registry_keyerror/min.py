{}["average"]
